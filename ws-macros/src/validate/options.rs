//! Options, and the nodes for which they make sense.

use syn::Ident;
use syn::ext::IdentExt;

use crate::errors::Errors;
use crate::lower::Graph;
use crate::names::{Position, walk_expr};
use crate::parse::{Kind, Step, called};
use crate::similar::nearest;

/// `after` names nodes.
pub(super) fn after_unknown(graph: &Graph, errors: &mut Errors) {
    for step in graph.steps() {
        for name in &step.options.after {
            if graph.binder(name).is_some() {
                continue;
            }
            let known: Vec<String> = graph
                .steps()
                .iter()
                .flat_map(|step| &step.names)
                .map(|name| name.unraw().to_string())
                .collect();
            let help = nearest(&name.unraw().to_string(), known.iter().map(String::as_str))
                .map_or(String::new(), |meant| {
                    format!("\nhelp: did you mean `{meant}`?")
                });
            errors.at(
                name,
                format!(
                    "node `{}` is to run after `{name}`, which is not a node{help}",
                    step.name
                ),
            );
        }
    }
}

/// The steps whose options could be read.
fn sound(graph: &Graph) -> impl Iterator<Item = &Step> {
    graph.steps().iter().filter(|step| !step.options.broken)
}

/// `retry` is for nodes with a `?`.
pub(super) fn retry_of_what_cannot_fail(graph: &Graph, errors: &mut Errors) {
    for step in sound(graph) {
        if let (Some(retry), false) = (&step.options.retry, step.traits.fails()) {
            if step.options.timeout.is_none() {
                errors.span(
                    retry.span,
                    format!(
                        "there is nothing to retry: node `{}` has no `?`, so it cannot fail",
                        step.name
                    ),
                );
            }
        }
    }
}

/// `fallback` is for nodes with a `?` or with a `timeout`.
pub(super) fn fallback_of_what_cannot_fail(graph: &Graph, errors: &mut Errors) {
    for step in sound(graph) {
        if let (Some(fallback), false) = (&step.options.fallback, step.traits.fails()) {
            if step.options.timeout.is_none() {
                errors.at(
                    fallback,
                    format!("this is never used: node `{}` has neither a `?` nor a `timeout`, so it cannot fail", step.name),
                );
            }
        }
    }
}

/// A `timeout` needs a `fallback`, or an error of the graph.
pub(super) fn timeout_without_way_out(graph: &Graph, errors: &mut Errors) {
    for step in sound(graph) {
        let options = &step.options;
        if let (Some(timeout), None, false) =
            (&options.timeout, &options.fallback, graph.parsed.fallible())
        {
            errors.span(
                timeout.span,
                format!(
                    "node `{}` may take too long, and then? This graph has no error to end with\n\
                     help: give the node a `fallback`, or return a `Result`; \
                     `#[task_graph(fallible)]` says that this is one by another name",
                    step.name
                ),
            );
        }
    }
}

/// Numbers must be constants: they are the same for all runs, and known before the first.
pub(super) fn option_of_value(graph: &Graph, errors: &mut Errors) {
    for step in graph.steps() {
        let options = &step.options;
        let numbers = [
            ("limit", options.limit.as_ref()),
            ("queue", options.queue.as_ref().map(|queue| &queue.places)),
            ("max", options.batch.as_ref().map(|batch| &batch.max)),
        ];
        for (option, number) in numbers {
            let Some(number) = number else {
                continue;
            };
            walk_expr(&mut number.clone(), &mut |name: &Ident, _: Position| {
                if graph.values.iter().any(|value| value.name == *name) {
                    errors.at(
                        name,
                        format!("`{option}` is a constant, the same for all runs; `{name}` is a value of one"),
                    );
                }
                None
            });
        }
    }
}

/// A node must not have both `inline` and `spawn`.
pub(super) fn inline_or_spawn(graph: &Graph, errors: &mut Errors) {
    for step in graph.steps() {
        if let (Some(_), Some(spawn)) = (step.options.inline, step.options.spawn) {
            errors.span(spawn, "a node is either `inline` or `spawn`, not both");
        }
    }
}

/// A node that blocks its thread cannot await, and cannot be stopped.
pub(super) fn blocking_node(graph: &Graph, errors: &mut Errors) {
    for (index, step) in graph.steps().iter().enumerate() {
        let Some(span) = step.options.blocking else {
            continue;
        };
        if graph
            .inputs_of(index)
            .into_iter()
            .any(|value| graph.is_exclusive(value))
        {
            errors.span(
                span,
                "`blocking` is not supported for nodes that use an exclusive input",
            );
        }
        if step.traits.awaits {
            errors.span(
                span,
                format!(
                    "node `{}` awaits, so it does not block: leave `blocking` out",
                    step.name
                ),
            );
        }
        if step.options.retry.is_some() || step.options.timeout.is_some() {
            errors.span(
                span,
                "a thread that blocks cannot be stopped: `blocking` has no `timeout` and no `retry`\n\
                 help: put a loop or a time limit into the code that blocks",
            );
        }
    }
}

/// `graph` is for calls of graphs.
pub(super) fn graph_of_no_call(graph: &Graph, errors: &mut Errors) {
    for step in graph.steps() {
        if let (Some(span), Kind::Node(node)) = (step.options.graph, &step.kind) {
            // `Box::pin(…)` is a call of a type's function.
            let of_type = |path: &syn::Path| {
                let before = path.segments.iter().rev().nth(1);
                before.is_some_and(|name| {
                    let name = name.ident.unraw().to_string();
                    name.starts_with(char::is_uppercase)
                })
            };
            if called(&node.expr).is_none_or(of_type) {
                errors.span(
                    span,
                    format!(
                        "`graph` is for a call of another graph: `let {} = other(…).await;`",
                        step.name
                    ),
                );
            }
        }
    }
}

/// A graph that calls itself would contain itself, as any async function would.
pub(super) fn graph_of_itself(graph: &Graph, errors: &mut Errors) {
    let name = &graph.parsed.plain.sig.ident;
    for step in graph.steps() {
        if let (Some(_), Kind::Node(node)) = (step.options.graph, &step.kind) {
            if let Some(path) = called(&node.expr).filter(|path| path.is_ident(name)) {
                errors.hide_body = true;
                errors.at(
                    path,
                    format!(
                        "`{name}` cannot call itself: a call would contain another one, and so on"
                    ),
                );
            }
        }
    }
}
