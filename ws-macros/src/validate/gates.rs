//! Gates: options that are only for a graph over a stream, and not for every node.

use std::collections::HashSet;

use proc_macro2::Span;
use syn::Ident;
use syn::spanned::Spanned;

use crate::errors::Errors;
use crate::expand::unbindable;
use crate::lower::Graph;
use crate::names::{Position, walk_expr};
use crate::parse::{Kind, Step};
use crate::similar::nearest;

/// The options and `skip!()`s of a step that need a stream, with their names.
fn stream_options(step: &Step) -> Vec<(Span, &'static str)> {
    let options = &step.options;
    let mut found = Vec::new();
    found.extend(options.rate.as_ref().map(|rate| (rate.span, "rate")));
    found.extend(options.queue.as_ref().map(|queue| (queue.span, "queue")));
    found.extend(options.batch.as_ref().map(|batch| (batch.span, "batch")));
    found.extend(options.key.as_ref().map(|key| (key.span, "key")));
    found.extend(options.flat.as_ref().map(|flat| (flat.span, "flat")));
    found.extend(step.traits.skips.iter().map(|&span| (span, "skip!")));
    found
}

/// A graph with gates must have one input that is not shared, and must be usable as a pipeline.
pub(super) fn gates_without_stream(graph: &Graph, errors: &mut Errors) {
    let mut options = graph.steps().iter().flat_map(stream_options).peekable();
    let Some(&(_, first)) = options.peek() else {
        return;
    };
    // rustc would not understand the input of a batch, nor `skip!()`.
    errors.hide_body = true;
    let parsed = &graph.parsed;
    if parsed.args.local {
        for (span, name) in options {
            errors.span(
                span,
                format!("`{name}` is for a graph over a stream, and a local graph has none"),
            );
        }
        return;
    }
    let Some(why) = unbindable(graph) else { return };
    let items = parsed.inputs.iter().filter(|input| input.shared.is_none());
    let mut more = items.skip(1).peekable();
    if more.peek().is_none() {
        errors.at(
            &parsed.plain.sig.ident,
            format!("`{first}` is for a graph over a stream, which this cannot be: {why}"),
        );
    }
    for input in more {
        errors.span(
            input
                .pat
                .span()
                .join(input.ty.span())
                .unwrap_or(input.pat.span()),
            format!(
                "`{first}` is for a graph over a stream, whose item is one input\n\
                 help: mark this one `#[shared]`, or make both one tuple"
            ),
        );
    }
}

/// A call for many items must use no value of a single item, except the gathered one.
pub(super) fn batch_of_what(graph: &Graph, errors: &mut Errors) {
    for (index, step) in graph.steps().iter().enumerate() {
        let (Some(batch), Kind::Node(node)) = (&step.options.batch, &step.kind) else {
            continue;
        };
        let mut used: Vec<Ident> = Vec::new();
        walk_expr(&mut node.expr.clone(), &mut |name: &Ident, _: Position| {
            used.push(name.clone());
            None
        });
        let inputs = graph.inputs_of(index);
        let value = inputs
            .iter()
            .find(|&&value| graph.values[value].name == batch.value)
            .filter(|_| used.contains(&batch.value));
        match value {
            None => {
                let known: Vec<String> = used.iter().map(ToString::to_string).collect();
                let help = nearest(&batch.value.to_string(), known.iter().map(String::as_str))
                    .map_or(String::new(), |meant| {
                        format!("\nhelp: did you mean `{meant}`?")
                    });
                errors.at(
                    &batch.value,
                    format!(
                        "node `{}` gathers `{}`, which it does not use{help}",
                        step.name, batch.value
                    ),
                );
                continue;
            }
            Some(&value) if graph.is_shared_input(value) => errors.at(
                &batch.value,
                format!(
                    "`{}` is the same for all items: there is nothing to gather",
                    batch.value
                ),
            ),
            Some(&value) if graph.values[value].mover != Some(index) => errors.at(
                &batch.value,
                format!(
                    "node `{}` gathers `{1}`, so it must own it, but others use `{1}` as well\n\
                     help: clone it for them in a node of its own, or make this its last user",
                    step.name, batch.value
                ),
            ),
            Some(_) => {}
        }
        let mut seen = HashSet::new();
        for name in used.iter().filter(|name| **name != batch.value) {
            let foreign = inputs
                .iter()
                .any(|&value| graph.values[value].name == *name && !graph.is_shared_input(value));
            if foreign && seen.insert(name.clone()) {
                errors.at(
                    name,
                    format!(
                        "node `{}` is called once for many items, and `{name}` is of one of them\n\
                         help: gather a tuple of both, made in a node above",
                        step.name
                    ),
                );
            }
        }
    }
}

/// Options that exclude each other.
pub(super) fn gates_that_clash(graph: &Graph, errors: &mut Errors) {
    for step in graph.steps() {
        let options = &step.options;
        if let (Some(batch), Some(_)) = (&options.batch, &options.fallback) {
            errors.span(
                batch.span,
                "a batch has no `fallback`: its error is that of every item, for the pipeline to route",
            );
        }
        if let (Some(flat), Some(_)) = (&options.flat, &options.batch) {
            errors.span(flat.span, "a node is either a `batch` or `flat`, not both");
        }
        if let (Some(queue), true) = (
            &options.queue,
            options.batch.is_some() || options.key.is_some(),
        ) {
            errors.span(
                queue.span,
                "`batch` and `key` wait for other items, which a full `queue` might keep away\n\
                 help: give the `queue` to a node of its own, before this one",
            );
        }
        if options.batch.is_some() || options.blocking.is_some() {
            for &span in &step.traits.skips {
                errors.span(
                    span,
                    format!(
                        "node `{}` cannot skip from here: do it in a statement above or below",
                        step.name
                    ),
                );
            }
        }
    }
}

/// A graph fans out at most once. Gates that keep an order must be above that.
pub(super) fn flat_twice(graph: &Graph, errors: &mut Errors) {
    let Some(first) = graph.flat else { return };
    for step in &graph.steps()[first + 1..] {
        if let Some(flat) = &step.options.flat {
            errors.span(
                flat.span,
                format!(
                    "`{}` fans out already, and a graph does so once\n\
                     help: make one node of both, or a second pipeline",
                    graph.steps()[first].name
                ),
            );
        }
        if let Some(key) = &step.options.key {
            errors.span(
                key.span,
                format!(
                    "`key` keeps the order of items, and below `{}` there are parts of items",
                    graph.steps()[first].name
                ),
            );
        }
    }
}

/// A queue stands before a node that makes items wait, and after a node in which they can wait.
pub(super) fn queue_between_what(graph: &Graph, errors: &mut Errors) {
    for (index, step) in graph.steps().iter().enumerate() {
        let Some(queue) = &step.options.queue else {
            continue;
        };
        if step.options.limit.is_none() && step.options.rate.is_none() {
            errors.span(
                queue.span,
                format!(
                    "nobody queues before node `{}`: give it a `limit` or a `rate`",
                    step.name
                ),
            );
        }
        let needs = graph.nearest_needs(index);
        let before = match needs[..] {
            [before] if matches!(graph.steps()[before].kind, Kind::Node(_)) => Some(before),
            _ => None,
        };
        match before {
            None => errors.span(
                queue.span,
                format!(
                    "a full queue makes items wait in the node before, and node `{}` has not exactly one",
                    step.name
                ),
            ),
            Some(_) if graph.is_below_flat(index) => errors.span(
                queue.span,
                "a queue holds items, and below `flat` there are parts of items",
            ),
            Some(before) if graph.steps()[before].options.batch.is_some() => errors.span(
                queue.span,
                format!(
                    "a full queue makes items wait in the node before, and node `{}` is one call for many: put a node between them",
                    graph.steps()[before].name
                ),
            ),
            Some(before) if graph.queues_after(before).next() != Some(index) => errors.span(
                queue.span,
                format!(
                    "node `{}` is before another queue already, and an item waits for one at a time",
                    graph.steps()[before].name
                ),
            ),
            Some(_) => {}
        }
    }
}
