//! Tokens: who holds a lease, as 160 random bits. The randomness is given by the caller: a seeded generator where a run
//! must repeat, the operating system's where others must not guess.

use crate::util::rng::Rng;
use std::fmt;

/// Random bytes of a token.
const BYTES: usize = 20;

/// The token of one attempt to get a lease: 160 bits as 40 hexadecimal digits. Used up by that attempt, so that no two
/// attempts share one.
#[derive(PartialEq, Eq)]
pub struct Token {
    text: [u8; 2 * BYTES],
}

impl Token {
    /// A token of these bits, which must be random and used for nothing else.
    pub fn from_random(bits: [u8; BYTES]) -> Self {
        const HEX: &[u8; 16] = b"0123456789abcdef";
        let mut text = [0; 2 * BYTES];
        for (pair, byte) in text.chunks_exact_mut(2).zip(bits) {
            pair[0] = HEX[usize::from(byte >> 4)];
            pair[1] = HEX[usize::from(byte & 15)];
        }
        Token { text }
    }
    /// The text that stands under the lease's key.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.text).unwrap_or_default()
    }
    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.text
    }
    /// The same token, for the steps of one lease.
    pub(super) fn again(&self) -> Token {
        Token { text: self.text }
    }
}

/// Shows the beginning: whoever has the whole token can end the lease.
impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Token({}...)", self.as_str().get(..8).unwrap_or_default())
    }
}

/// Where tokens come from.
pub trait Tokens {
    /// A token that was never given before.
    ///
    /// # Errors
    /// When there is no randomness to be had.
    fn token(&mut self) -> Result<Token, NoEntropy>;
}

/// There is no randomness to be had; the text says why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no randomness for a token: {0}")]
pub struct NoEntropy(pub String);

impl From<NoEntropy> for crate::Error {
    fn from(error: NoEntropy) -> Self {
        crate::Error::usage(error.to_string())
    }
}

/// Tokens of a seeded generator: the same seed, the same tokens. For tests and simulations; anyone who knows the seed
/// can end a lease.
#[derive(Debug, Clone)]
pub struct SeededTokens {
    rng: Rng,
}

impl SeededTokens {
    /// The tokens of this seed.
    pub fn new(seed: u64) -> Self {
        SeededTokens { rng: Rng::new(seed) }
    }
}

impl Tokens for SeededTokens {
    fn token(&mut self) -> Result<Token, NoEntropy> {
        let mut bits = [0; BYTES];
        for chunk in bits.chunks_mut(8) {
            let random = self.rng.next_u64().to_le_bytes();
            chunk.copy_from_slice(&random[..chunk.len()]);
        }
        Ok(Token::from_random(bits))
    }
}

/// Tokens of the operating system's randomness: what a program in production uses.
#[cfg(feature = "redis")]
#[derive(Debug, Clone, Copy, Default)]
pub struct OsTokens;

#[cfg(feature = "redis")]
impl Tokens for OsTokens {
    fn token(&mut self) -> Result<Token, NoEntropy> {
        let mut bits = [0; BYTES];
        getrandom::fill(&mut bits).map_err(|error| NoEntropy(error.to_string()))?;
        Ok(Token::from_random(bits))
    }
}
