//! Sets of classes of keyspace events, and the channels they are published to, as the letters of notify-keyspace-events
//! name them.

use super::event::EventClass;
use std::fmt;

/// What notify-keyspace-events is set to: classes of events, and the channels they are published to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Classes(u16);

/// The letters, in the order in which they are shown; `A` stands for all of the first group but `n`.
const LETTERS: [(u8, u16); 12] = [
    (b'g', Classes::of(EventClass::Generic)),
    (b'$', Classes::of(EventClass::String)),
    (b'l', Classes::of(EventClass::List)),
    (b's', Classes::of(EventClass::Set)),
    (b'h', Classes::of(EventClass::Hash)),
    (b'z', Classes::of(EventClass::ZSet)),
    (b'x', Classes::of(EventClass::Expired)),
    (b'e', Classes::of(EventClass::Evicted)),
    (b't', Classes::of(EventClass::Stream)),
    (b'd', Classes::of(EventClass::Module)),
    (b'n', Classes::of(EventClass::New)),
    (b'm', Classes::of(EventClass::KeyMiss)),
];

impl Classes {
    /// No events.
    pub const NONE: Classes = Classes(0);
    const KEYSPACE: u16 = 1 << 14;
    const KEYEVENT: u16 = 1 << 15;
    const ALL: u16 = Classes::of(EventClass::New) - 1;

    const fn of(class: EventClass) -> u16 {
        1 << class as u16
    }
    /// Reads the letters; None when one means nothing. What follows a zero byte is not read.
    pub fn parse(text: &[u8]) -> Option<Classes> {
        let mut bits = 0;
        for letter in text.iter().take_while(|letter| **letter != 0) {
            bits |= match letter {
                b'A' => Classes::ALL,
                b'K' => Classes::KEYSPACE,
                b'E' => Classes::KEYEVENT,
                letter => LETTERS.iter().find(|(known, _)| known == letter)?.1,
            };
        }
        Some(Classes(bits))
    }
    /// Whether events of this class are told.
    #[inline]
    pub fn has(self, class: EventClass) -> bool {
        self.0 & Classes::of(class) != 0
    }
    /// Whether events are published to the channel of their key.
    pub fn to_keyspace(self) -> bool {
        self.0 & Classes::KEYSPACE != 0
    }
    /// Whether events are published to the channel of their name.
    pub fn to_keyevent(self) -> bool {
        self.0 & Classes::KEYEVENT != 0
    }
    /// Whether anything is published at all.
    pub fn is_heard(self) -> bool {
        self.to_keyspace() || self.to_keyevent()
    }
    #[inline]
    pub(super) fn is_none(self) -> bool {
        self.0 == 0
    }
}

/// As CONFIG GET shows them. The server shows no `n` beside an `A`.
impl fmt::Display for Classes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = self.0 & Classes::ALL == Classes::ALL;
        let (miss, first) = LETTERS.split_last().unwrap_or((&LETTERS[0], &[]));
        if all {
            f.write_str("A")?;
        }
        let ends = [(b'K', Classes::KEYSPACE), (b'E', Classes::KEYEVENT), *miss];
        for (letter, bit) in first.iter().filter(|_| !all).chain(&ends) {
            if self.0 & bit != 0 {
                write!(f, "{}", char::from(*letter))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_shown_as_the_server_puts_them() {
        for (text, shown) in [
            ("", ""),
            ("KEA", "AKE"),
            ("mKE$lgn", "g$lnKEm"),
            ("g$lshzxetdK", "AK"),
            ("nAE", "AE"),
            ("g$lshzxetdnmKE", "AKEm"),
            ("xe", "xe"),
        ] {
            assert_eq!(
                Classes::parse(text.as_bytes()).map(|classes| classes.to_string()),
                Some(shown.into())
            );
        }
        assert_eq!(Classes::parse(b"KEx!"), None);
        assert_eq!(Classes::parse(b"\0!"), Some(Classes::NONE));
    }
}
