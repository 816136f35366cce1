//! What stands in the buffers of a client that came through a socket. The front notes it as it reads and writes, commands
//! about clients look at it: both at any time, for these are only figures. How the server would count them is here too.

use super::process::Process;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

/// What is sent to a client waits here first, and does not count as waiting for it.
pub const REPLY_BUFFER: usize = 16 * 1024;
/// The smallest that buffer is made for a client that needs less.
const REPLY_BUFFER_LEAST: usize = 1024;
/// What comes after it waits in blocks of so many bytes,
const BLOCK: usize = 20_464;
/// each of which takes so much more.
const BLOCK_HEAD: usize = 40;

/// What a client takes beside its buffers.
pub const CLIENT_BYTES: usize = 1024;

/// The buffers of one client.
#[derive(Debug)]
pub struct Buffers {
    unread: AtomicUsize,
    unread_free: AtomicUsize,
    words: AtomicUsize,
    unsent: AtomicUsize,
    reply_buffer: AtomicUsize,
    reply_peak: AtomicUsize,
    /// What the session holds beside them: queued commands, messages, names.
    held: AtomicUsize,
    /// The sum of all clients, and how much of it is this one's.
    all: Option<Arc<Process>>,
    counted: AtomicUsize,
    /// It is not counted any more.
    left_out: AtomicBool,
}

impl Default for Buffers {
    fn default() -> Self {
        Buffers::new(None)
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        self.count_as(0);
    }
}

/// What the buffers of a client hold, as CLIENT LIST shows it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Figures {
    /// Bytes that were read, and belong to no command that has run: qbuf.
    pub unread: usize,
    /// Room for more of them: qbuf-free.
    pub unread_free: usize,
    /// Bytes of the words of the command that runs or waits: argv-mem.
    pub words: usize,
    /// The size of the buffer of replies: rbs.
    pub reply_buffer: usize,
    /// The most that stood in it lately: rbp.
    pub reply_peak: usize,
    /// What stands in it: obl.
    pub buffered: usize,
    /// Blocks that wait behind it: oll.
    pub blocks: usize,
    /// Bytes that they take: omem.
    pub block_bytes: usize,
}

/// What has become of a buffer of replies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fit {
    /// It is as large as it was.
    Same,
    /// It has become smaller.
    Smaller,
    /// It has become larger.
    Larger,
}

impl Figures {
    /// Memory that the buffers take.
    pub fn bytes(&self) -> usize {
        self.unread + self.unread_free + self.words + self.reply_buffer + self.block_bytes
    }
}

impl Buffers {
    /// Those of a client whose memory is counted with that of all clients.
    pub fn counted(all: Arc<Process>) -> Self {
        let buffers = Buffers::new(Some(all));
        buffers.count();
        buffers
    }
    fn new(all: Option<Arc<Process>>) -> Self {
        Buffers {
            unread: AtomicUsize::new(0),
            unread_free: AtomicUsize::new(0),
            words: AtomicUsize::new(0),
            unsent: AtomicUsize::new(0),
            reply_buffer: AtomicUsize::new(REPLY_BUFFER),
            reply_peak: AtomicUsize::new(REPLY_BUFFER),
            held: AtomicUsize::new(0),
            all,
            counted: AtomicUsize::new(0),
            left_out: AtomicBool::new(false),
        }
    }
    /// What the client takes up now is counted.
    pub fn count(&self) {
        if !self.left_out.load(Relaxed) {
            self.count_as(self.bytes());
        }
    }
    /// From now on the client is not counted: it follows, or it has ended.
    pub fn leave_out(&self) {
        self.left_out.store(true, Relaxed);
        self.count_as(0);
    }
    fn count_as(&self, bytes: usize) {
        if let Some(all) = &self.all {
            let before = self.counted.swap(bytes, Relaxed);
            all.client_bytes.add((bytes as u64).wrapping_sub(before as u64));
        }
    }
    /// All that the client takes up.
    pub fn bytes(&self) -> usize {
        CLIENT_BYTES + self.figures().bytes() + self.held.load(Relaxed)
    }
    /// The session holds so much more beside its buffers.
    pub fn note_message(&self, bytes: usize) {
        self.held.fetch_add(bytes, Relaxed);
        self.count();
    }
    /// What the session holds beside its buffers.
    #[inline]
    pub fn note_held(&self, bytes: usize) {
        self.held.store(bytes, Relaxed);
    }
    /// What was read: bytes, and the room for more.
    #[inline]
    pub fn note_unread(&self, bytes: usize, free: usize) {
        self.unread.store(bytes, Relaxed);
        self.unread_free.store(free, Relaxed);
    }
    /// The words of the command that runs or waits; 0 when none does.
    #[inline]
    pub fn note_words(&self, bytes: usize) {
        self.words.store(bytes, Relaxed);
    }
    /// What is to be written.
    #[inline]
    pub fn note_unsent(&self, bytes: usize) {
        self.unsent.store(bytes, Relaxed);
        let peak = bytes.min(self.reply_buffer.load(Relaxed));
        if peak > self.reply_peak.load(Relaxed) {
            self.reply_peak.store(peak, Relaxed);
        }
    }
    /// What waits behind the buffer of replies.
    #[inline]
    pub fn block_bytes(&self) -> usize {
        let blocks = self.unsent.load(Relaxed).saturating_sub(REPLY_BUFFER).div_ceil(BLOCK);
        blocks * (BLOCK + BLOCK_HEAD)
    }
    /// All of it.
    pub fn figures(&self) -> Figures {
        let unsent = self.unsent.load(Relaxed);
        let block_bytes = self.block_bytes();
        Figures {
            unread: self.unread.load(Relaxed),
            unread_free: self.unread_free.load(Relaxed),
            words: self.words.load(Relaxed),
            reply_buffer: self.reply_buffer.load(Relaxed),
            reply_peak: self.reply_peak.load(Relaxed),
            buffered: unsent.min(REPLY_BUFFER),
            blocks: block_bytes / (BLOCK + BLOCK_HEAD),
            block_bytes,
        }
    }
    /// Makes the buffer of replies smaller where less than half of it is needed, and larger where all of it is.
    pub fn fit_reply_buffer(&self) -> Fit {
        let (size, peak) = (self.reply_buffer.load(Relaxed), self.reply_peak.load(Relaxed));
        if size / 2 >= REPLY_BUFFER_LEAST && peak < size / 2 {
            self.reply_buffer.store(REPLY_BUFFER_LEAST.max(peak + 1), Relaxed);
            return Fit::Smaller;
        }
        if size < REPLY_BUFFER && peak == size {
            self.reply_buffer.store(REPLY_BUFFER.min(size * 2), Relaxed);
            return Fit::Larger;
        }
        Fit::Same
    }
    /// What it needs is measured anew.
    pub fn forget_peak(&self) {
        let buffered = self.unsent.load(Relaxed).min(self.reply_buffer.load(Relaxed));
        self.reply_peak.store(buffered, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_is_counted_in_blocks_behind_the_buffer_of_replies() {
        let buffers = Buffers::default();
        let figures = |unsent| {
            buffers.note_unsent(unsent);
            let Figures { buffered, blocks, block_bytes, .. } = buffers.figures();
            (buffered, blocks, block_bytes)
        };
        assert_eq!(figures(0), (0, 0, 0));
        assert_eq!(figures(REPLY_BUFFER), (16_384, 0, 0));
        assert_eq!(figures(REPLY_BUFFER + 1), (16_384, 1, 20_504));
        assert_eq!(figures(REPLY_BUFFER + 20_465), (16_384, 2, 41_008));
    }

    #[test]
    fn the_buffer_of_replies_follows_what_is_needed() {
        let buffers = Buffers::default();
        let sizes = || (buffers.figures().reply_buffer, buffers.figures().reply_peak);
        buffers.fit_reply_buffer();
        assert_eq!(sizes(), (16_384, 16_384), "nothing was measured yet");
        buffers.note_unsent(5);
        buffers.forget_peak();
        buffers.fit_reply_buffer();
        assert_eq!(sizes(), (1024, 5));
        buffers.note_unsent(40_000);
        for size in [2048, 4096, 8192, 16_384, 16_384] {
            buffers.fit_reply_buffer();
            assert_eq!(sizes().0, size);
            buffers.note_unsent(40_000);
        }
    }
}
