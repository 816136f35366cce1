//! Where the parts of a script stand in its text: what those need who change a script in a way that still compiles.

/// A word of the source, by its place in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Word {
    pub(crate) kind: WordKind,
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) line: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WordKind {
    /// A name or a keyword.
    Name,
    Number,
    Text,
    Sign,
}

/// Words by their numbers, the second excluded.
pub(crate) type Span = (usize, usize);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StatementKind {
    If,
    Return,
    Call,
    Assignment,
    Local,
    Other,
}

#[derive(Debug, Clone)]
pub(crate) struct Statement {
    pub(crate) kind: StatementKind,
    pub(crate) span: Span,
}

/// What was found in a source, inner things before outer ones.
#[derive(Debug, Default)]
pub(crate) struct Outline {
    /// All words; comments are none.
    pub(crate) words: Vec<Word>,
    /// The statements of each block.
    pub(crate) blocks: Vec<Vec<Statement>>,
    /// The conditions of `if` and `elseif`.
    pub(crate) conditions: Vec<Span>,
    /// What `or` joins, and within what `and` joins; of two parts or more.
    pub(crate) chains: Vec<Vec<Span>>,
    /// The elements of each table constructor.
    pub(crate) tables: Vec<Vec<Span>>,
    /// Calls of redis.call and redis.pcall.
    pub(crate) commands: Vec<Span>,
}

/// The operands of `and` or `or` next to each other, while they are read.
#[derive(Default)]
pub(super) struct Chain {
    /// Where those behind the first one begin.
    later: Vec<usize>,
}

impl Chain {
    /// An operator stands here.
    pub(super) fn join(&mut self, operator: usize) {
        self.later.push(operator + 1);
    }
    /// The operands of a chain that begins and ends here; none where nothing was joined.
    pub(super) fn close(&mut self, start: usize, end: usize) -> Option<Vec<Span>> {
        let later = std::mem::take(&mut self.later);
        let ends: Vec<usize> = later.iter().map(|next| next - 1).chain([end]).collect();
        (!later.is_empty()).then(|| [start].into_iter().chain(later).zip(ends).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::super::Source;
    use super::*;

    fn outline(source: &str) -> Outline {
        Source::parse(source.as_bytes()).expect("it is Lua").outline
    }

    #[test]
    fn comments_are_no_words_and_texts_are_one() {
        let source = "#!lua\n--!key a\nlocal a = [[x]] --[==[ y ]] ]==] .. 'it\\'s' .. 1e-5+0x1F ~= a.b\n--";
        let shown: Vec<&str> =
            outline(source).words.iter().map(|word| &source[word.start..word.end]).collect();
        let words =
            ["local", "a", "=", "[[x]]", "..", "'it\\'s'", "..", "1e-5", "+", "0x1F", "~=", "a", ".", "b"];
        assert_eq!(shown, words);
    }

    #[test]
    fn parts_end_where_they_do() {
        let source = "local f = function(a, ...) return a end\nif f(1) or #KEYS ~= 1 and not x then redis.call('DEL', KEYS[1]) a.b, c = 1, 2 elseif y then end\nfor i = 1, 2 do f{i, j = 2; [3] = 4} end\nrepeat until f'x':g() return {1, redis.call('GET', 'k')}";
        let Outline { words, blocks, conditions, chains, tables, commands } = outline(source);
        let text = |span: &Span| &source[words[span.0].start..words[span.1 - 1].end];
        let kinds = |block: &Vec<Statement>| block.iter().map(|one| one.kind).collect::<Vec<_>>();
        use StatementKind::{Assignment, Call, If, Local, Other, Return};
        assert_eq!(blocks.last().map(kinds), Some(vec![Local, If, Other, Other, Return]));
        assert_eq!(kinds(&blocks[1]), [Call, Assignment]);
        let ends: Vec<&str> = blocks[1].iter().map(|one| text(&one.span)).collect();
        assert_eq!(ends, ["redis.call('DEL', KEYS[1])", "a.b, c = 1, 2"]);
        assert_eq!(conditions.iter().map(text).collect::<Vec<_>>(), ["f(1) or #KEYS ~= 1 and not x", "y"]);
        let chains: Vec<Vec<&str>> = chains.iter().map(|chain| chain.iter().map(text).collect()).collect();
        assert_eq!(chains, [vec!["#KEYS ~= 1", "not x"], vec!["f(1)", "#KEYS ~= 1 and not x"]]);
        let commands: Vec<&str> = commands.iter().map(text).collect();
        assert_eq!(commands, ["redis.call('DEL', KEYS[1])", "redis.call('GET', 'k')"]);
        let tables: Vec<Vec<&str>> = tables.iter().map(|table| table.iter().map(text).collect()).collect();
        assert_eq!(tables, [vec!["i", "j = 2", "[3] = 4"], vec!["1", "redis.call('GET', 'k')"]]);
    }
}
