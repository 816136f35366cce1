#![no_main]
libfuzzer_sys::fuzz_target!(|input: &[u8]| moonkeep_fuzz::contracts::lint_scripts(input));
