//! Attacks: the scripts of `hostile/given` and `hostile/own`, each run in a child process, so that a crash is a
//! finding and not the end (`runner`).

mod inside;
mod isolation;
mod limits;
mod mutator;
mod replies;
mod runner;
