//! The rules, one function each, in files by what they look at.

mod errors;
mod names;
mod order;
mod values;

use super::facts::Script;
use super::{Finding, Rule};
use crate::syntax::Place;
use crate::syntax::tree::{Expr, each_expression};

/// All findings, in no order.
pub(super) fn all(script: &Script<'_>) -> Vec<Finding> {
    let mut found = Findings(Vec::new());
    each_expression(&script.chunk.body, &mut |expr| {
        script.begin();
        names::undeclared_keys(script, expr, &mut found);
        names::globals(script, expr, &mut found);
        names::arity(script, expr, &mut found);
        values::precision(script, expr, &mut found);
        values::nil_replies(script, expr, &mut found);
        values::not_numbers(script, expr, &mut found);
    });
    names::assigned_globals(script, &mut found);
    order::unordered(script, &mut found);
    errors::errors(script, &mut found);
    found.0
}

/// What was found.
pub(super) struct Findings(Vec<Finding>);

impl Findings {
    fn add(&mut self, rule: Rule, expr: &Expr, what: impl Into<String>, mend: impl Into<String>) {
        self.at(rule, expr.place, what, mend);
    }
    fn at(&mut self, rule: Rule, place: Place, what: impl Into<String>, mend: impl Into<String>) {
        let Place { line, column } = place;
        self.0.push(Finding { line, column, rule, what: what.into(), mend: mend.into() });
    }
}
