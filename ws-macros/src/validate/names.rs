//! Names are bound once, used below their definition, and not unused.

use std::collections::HashSet;

use syn::ext::IdentExt;
use syn::visit::Visit;
use syn::{Pat, PatIdent};

use crate::errors::Errors;
use crate::lower::{Graph, Maker, Slip, Value};
use crate::names::Position;
use crate::parse::Kind;

/// A name is bound once: it is the name of one node.
pub(super) fn duplicate_name(graph: &Graph, errors: &mut Errors) {
    let mut seen: HashSet<String> = HashSet::new();
    for value in &graph.values {
        let name = value.name.to_string();
        if !seen.insert(name.clone()) {
            errors.at(
                &value.name,
                format!(
                    "`{name}` is bound already, and a name stands for one node\n\
                     help: call this one `{name}2`, or something that says what it is"
                ),
            );
        }
    }
}

/// Values do not change, because nodes that run at the same time share them.
pub(super) fn let_mut(graph: &Graph, errors: &mut Errors) {
    struct Mutable<'e>(&'e mut Errors, bool);
    impl<'ast> Visit<'ast> for Mutable<'_> {
        fn visit_pat_ident(&mut self, pat: &'ast PatIdent) {
            if let Some(token) = &pat.mutability {
                let name = &pat.ident;
                let (what, how) = if self.1 {
                    (
                        "an input",
                        format!(
                            "a node: `let {name}2 = {{ let mut {name} = {name}; …; {name} }};`"
                        ),
                    )
                } else {
                    (
                        "the value of a node",
                        format!("the node: `let {name} = {{ let mut {name} = …; …; {name} }};`"),
                    )
                };
                self.0.at(
                    token,
                    format!(
                        "{what} does not change, because others may be looking at it\n\
                         help: do it inside of {how}"
                    ),
                );
            }
            syn::visit::visit_pat_ident(self, pat);
        }
    }
    let steps = graph.steps().iter().filter_map(|step| match &step.kind {
        Kind::Node(node) => Some(&node.pat),
        Kind::Fence(_) | Kind::Tail(_) => None,
    });
    let inputs = graph.parsed.inputs.iter().map(|input| &input.pat);
    for (pat, input) in inputs
        .map(|pat| (pat, true))
        .chain(steps.map(|pat| (pat, false)))
    {
        Mutable(errors, input).visit_pat(pat);
    }
}

/// A name that is similar to the name of an unused node is most likely a misspelling of it.
/// This rejects no good program: an unused node is an error anyway.
pub(super) fn unknown_name(graph: &Graph, errors: &mut Errors) {
    let unused = unused(graph);
    for Slip { step, name, meant } in &graph.slips {
        if !unused.contains(meant) {
            continue; // It may be a function or a static, which rustc knows.
        }
        let (step, meant) = (&graph.steps()[*step].name, &graph.values[*meant].name);
        errors.at(
            name,
            format!(
                "node `{step}` needs `{name}`, which is neither a node nor an input of this graph\n\
                 help: did you mean `{meant}`?"
            ),
        );
    }
}

/// A name is used below its definition.
pub(super) fn use_before_definition(graph: &Graph, errors: &mut Errors) {
    for (index, uses) in graph.uses.iter().enumerate() {
        for used in uses.iter().filter(|used| used.value.is_none()) {
            let likely_value = !matches!(used.position, Position::Callee | Position::Opaque);
            let later = graph.binder(&used.name).filter(|&binder| binder > index);
            if let (true, Some(_)) = (likely_value, later) {
                let (step, name) = (&graph.steps()[index].name, &used.name);
                errors.at(
                    name,
                    format!("node `{step}` needs `{name}`, which is defined below it\nhelp: move `let {name} = …;` up"),
                );
            }
        }
    }
}

/// A value without users is most likely a mistake.
pub(super) fn unused_node(graph: &Graph, errors: &mut Errors) {
    for index in unused(graph) {
        if graph.slips.iter().any(|slip| slip.meant == index) {
            continue; // [`unknown_name`] reports it.
        }
        let value = &graph.values[index];
        let name = value.name.unraw();
        let also = if is_public(graph, value) {
            ", or only a partial run does"
        } else {
            ""
        };
        errors.at(
            &value.name,
            format!(
                "nobody uses `{name}`{also}\nhelp: call it `_{name}` if it runs for its effect"
            ),
        );
    }
}

/// The values of nodes that have no users.
fn unused(graph: &Graph) -> Vec<usize> {
    let is_unused = |value: &Value| {
        let Maker::Step(_) = value.maker else {
            return false;
        };
        // In a pattern with several names one used name is enough, as for a tuple; rustc warns
        // about the others.
        let others = graph
            .values
            .iter()
            .any(|other| other.maker == value.maker && !other.users.is_empty());
        let awaited = graph
            .parsed
            .steps
            .iter()
            .any(|step| step.options.after.contains(&value.name));
        let ignored = value.name.unraw().to_string().starts_with('_');
        value.users.is_empty() && !ignored && !others && !awaited
    };
    (0..graph.values.len())
        .filter(|&index| is_unused(&graph.values[index]))
        .collect()
}

/// Whether the type of a value is written, so that a partial run may ask for it.
fn is_public(graph: &Graph, value: &Value) -> bool {
    let Maker::Step(step) = value.maker else {
        return false;
    };
    matches!(&graph.steps()[step].kind, Kind::Node(node) if node.ty.is_some() && matches!(node.pat, Pat::Ident(_)))
}
