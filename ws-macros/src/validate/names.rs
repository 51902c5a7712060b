//! Names: bound once, used below, and not for nothing.

use std::collections::HashSet;

use syn::ext::IdentExt;
use syn::visit::Visit;
use syn::{Ident, Pat, PatIdent};

use crate::errors::Errors;
use crate::lower::{Graph, Maker};
use crate::names::Position;
use crate::parse::Kind;
use crate::similar::nearest;

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

/// Values do not change: nodes that run at the same time share them.
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

/// A name that is nearly that of a node or an input is most likely meant to be it.
pub(super) fn unknown_name(graph: &Graph, errors: &mut Errors) {
    for Slip { step, name, meant } in slips(graph) {
        let step = &graph.steps()[step].name;
        errors.at(
            &name,
            format!(
                "node `{step}` needs `{name}`, which is neither a node nor an input of this graph\n\
                 help: did you mean `{meant}`?"
            ),
        );
    }
}

/// A name that is most likely misspelt.
struct Slip {
    step: usize,
    name: Ident,
    meant: String,
}

/// Names that are like no other are left to rustc: they may be constants or functions.
/// So may be those in the place of a callee or of an argument of a method.
fn slips(graph: &Graph) -> Vec<Slip> {
    let mut slips = Vec::new();
    for (step, uses) in graph.uses.iter().enumerate() {
        for used in uses.iter().filter(|used| used.value.is_none()) {
            let name = used.name.unraw().to_string();
            let likely_value = matches!(
                used.position,
                Position::Argument | Position::Place | Position::Format
            );
            if !likely_value
                || name.starts_with(|c: char| c.is_uppercase())
                || graph.binder(&used.name).is_some()
            {
                continue;
            }
            let above = graph.values.iter().filter(|value| match value.maker {
                Maker::Input(_) => true,
                Maker::Step(maker) => maker < step,
            });
            let known: Vec<String> = above.map(|value| value.name.unraw().to_string()).collect();
            if let Some(meant) = nearest(&name, known.iter().map(String::as_str)) {
                slips.push(Slip {
                    step,
                    name: used.name.clone(),
                    meant: meant.to_owned(),
                });
            }
        }
    }
    slips
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

/// A value that nobody uses is most likely a mistake.
pub(super) fn unused_node(graph: &Graph, errors: &mut Errors) {
    let slips = slips(graph);
    for value in &graph.values {
        let Maker::Step(step) = value.maker else {
            continue;
        };
        let name = value.name.unraw().to_string();
        let step = &graph.steps()[step];
        // In a pattern with several names it is enough that one is used, as it would be
        // for a tuple; rustc warns about the others.
        let others = graph
            .values
            .iter()
            .any(|other| other.maker == value.maker && !other.users.is_empty());
        let awaited = graph
            .parsed
            .steps
            .iter()
            .any(|step| step.options.after.contains(&value.name));
        let written = matches!(&step.kind, Kind::Node(node) if node.ty.is_some() && matches!(node.pat, Pat::Ident(_)));
        let misspelt = slips.iter().any(|slip| slip.meant == name);
        if value.users.is_empty() && !name.starts_with('_') && !others && !awaited && !misspelt {
            let also = if written {
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
}
