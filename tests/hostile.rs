//! Attacks: the scripts of `hostile/given` and `hostile/own`, each run in a child process, so that a crash is a
//! finding and not the end (`runner`).

mod runner;
