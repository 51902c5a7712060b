//! What a node may do, and which nodes it may wait for.

use std::collections::VecDeque;

use syn::ReturnType;

use crate::errors::Errors;
use crate::lower::Graph;
use crate::parse::{Kind, is_no_result};

/// `return` is for fences: no other step runs at the same time.
pub(super) fn return_in_node(graph: &Graph, errors: &mut Errors) {
    for step in graph.steps() {
        if let Kind::Node(_) = step.kind {
            for &span in &step.traits.returns {
                errors.span(
                    span,
                    format!(
                        "node `{}` cannot return from the graph while others are running\n\
                         help: end the run with `?`, or `return` in a statement that is not a `let`",
                        step.name
                    ),
                );
            }
        }
    }
}

/// `?` needs a return type that works with it.
pub(super) fn question_without_result(graph: &Graph, errors: &mut Errors) {
    let name = &graph.parsed.plain.sig.ident;
    let returns = match &graph.parsed.plain.sig.output {
        ReturnType::Default => "nothing".to_owned(),
        ReturnType::Type(_, ty) if is_no_result(ty) => {
            format!("`{}`", crate::errors::tidy(quote::quote!(#ty)))
        }
        ReturnType::Type(..) => return,
    };
    for step in graph.steps() {
        for &span in &step.traits.questions {
            errors.hide_body = true;
            errors.span(
                span,
                format!(
                    "`?` ends the run with an error, but `{name}` returns {returns}\n\
                     help: return a `Result`: `async fn {name}(…) -> Result<…, …>`"
                ),
            );
        }
    }
}

/// No step may wait for itself. Only `after` can point down, so it causes the cycle.
pub(super) fn cycle_through_after(graph: &Graph, errors: &mut Errors) {
    for &step in &graph.cyclic {
        for name in &graph.steps()[step].options.after {
            let Some(way) = graph.binder(name).and_then(|from| way(graph, from, step)) else {
                continue;
            };
            let path: Vec<String> = way
                .iter()
                .map(|&step| format!("`{}`", graph.steps()[step].name))
                .collect();
            errors.at(
                name,
                format!(
                    "`{0}` would wait for itself: `{0}` waits for {1}",
                    graph.steps()[step].name,
                    path.join(", which waits for ")
                ),
            );
        }
    }
}

/// The shortest chain of needs by which `from` waits for `to`, with both ends.
fn way(graph: &Graph, from: usize, to: usize) -> Option<Vec<usize>> {
    let mut came_from = vec![None; graph.steps().len()];
    let mut queue = VecDeque::from([from]);
    while let Some(step) = queue.pop_front() {
        if step == to {
            let mut way = vec![to];
            let mut at = to;
            while let Some(before) = came_from[at].filter(|_| at != from) {
                way.push(before);
                at = before;
            }
            way.reverse();
            return Some(way);
        }
        for &need in &graph.needs[step] {
            if came_from[need].is_none() && need != from {
                came_from[need] = Some(step);
                queue.push_back(need);
            }
        }
    }
    None
}

/// The shape of a graph must not depend on `cfg`, which is not known when the macro runs.
pub(super) fn cfg_on_node(graph: &Graph, errors: &mut Errors) {
    for step in graph.steps() {
        if let Kind::Node(node) = &step.kind {
            for attr in node.attrs.iter().filter(|attr| attr.path().is_ident("cfg")) {
                errors.at(attr, "a node is always there: put the `cfg` inside, `let name = { #[cfg(…)] { … } … };`");
            }
        }
    }
}
