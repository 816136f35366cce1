//! The target for what DUMP gives and servers save: any bytes as a value of each type and form, with a footer that is
//! right, and as an `.rdb` file. What is read must survive being written and read again.

use moonkeep::Engine;
use moonkeep::value::rdb::{Reader, Thresholds, Writer, dump, read_value, restore};

/// The first byte says which type and form; the bytes behind it are the value, and all of them a file.
pub fn payloads(input: &[u8]) {
    let thresholds = Thresholds::DEFAULT;
    if let Some((kind, bytes)) = input.split_first() {
        let mut reader = Reader::new(bytes);
        let read = read_value(&mut reader, *kind, &thresholds);
        let mut writer = Writer::default();
        writer.bytes(input);
        let restored = restore(&writer.finish(), &thresholds).expect("its footer is right");
        if let Ok(value) = read {
            assert!(restored.as_ref() == Ok(&value), "a footer behind it changes nothing");
            let again = restore(&dump(&value, &thresholds), &thresholds).expect("its footer is right");
            assert!(again == Ok(value), "what was read is written as it was read");
        }
    }
    let engine = Engine::new();
    if engine.load_rdb(input).is_ok() {
        let saved = engine.save_rdb().expect("an engine at rest");
        let again = Engine::new();
        again.load_rdb(&saved).expect("its own file");
        assert_eq!(engine.state_hash(), again.state_hash());
    }
}
