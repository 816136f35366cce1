//! The generator behind `math.random` in scripts: the 48-bit linear congruential one that the server uses, with the
//! server's default seed. Everything else that is random comes from `rng`.

const MULTIPLIER: u64 = 0x5_DEEC_E66D;
const INCREMENT: u64 = 0xB;
const MASK: u64 = (1 << 48) - 1;
const LOW: u64 = 0x330E;

/// The generator; part of the engine's state, so forks and restores carry it on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lrand48(u64);

impl Default for Lrand48 {
    fn default() -> Self {
        Lrand48(0x1234_ABCD_0000 | LOW)
    }
}

impl Lrand48 {
    /// The next 31 bits.
    pub fn next_bits(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(MULTIPLIER).wrapping_add(INCREMENT) & MASK;
        (self.0 >> 17) as u32
    }
    /// The next number from 0 up to, not including, 1.
    pub fn next_unit(&mut self) -> f64 {
        const LARGEST: u32 = i32::MAX as u32;
        f64::from(self.next_bits() % LARGEST) / f64::from(LARGEST)
    }
    /// Starts anew from a seed.
    pub fn reseed(&mut self, seed: i32) {
        self.0 = (u64::from(seed as u32) << 16) | LOW;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_numbers_are_those_of_a_fresh_server() {
        let mut random = Lrand48::default();
        let mut upto_a_million = || (random.next_unit() * 1_000_000.0).floor() as u32 + 1;
        assert_eq!([396_465, 840_486, 353_337, 446_584], std::array::from_fn(|_| upto_a_million()));
    }
}
