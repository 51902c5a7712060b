//! Options that make sense, for a node that they make sense for.

use syn::ext::IdentExt;

use crate::errors::Errors;
use crate::lower::Graph;
use crate::parse::Step;
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

/// So is `fallback`, unless there is a `timeout`.
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

/// A `timeout` ends in a `fallback` or in an error.
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
                     help: give the node a `fallback`, or return a `Result`",
                    step.name
                ),
            );
        }
    }
}

/// A node is either to be `inline` or to be `spawn`ed.
pub(super) fn inline_or_spawn(graph: &Graph, errors: &mut Errors) {
    for step in graph.steps() {
        if let (Some(_), Some(spawn)) = (step.options.inline, step.options.spawn) {
            errors.span(spawn, "a node is either `inline` or `spawn`, not both");
        }
    }
}

/// Options that are known and not there.
pub(super) fn not_supported(graph: &Graph, errors: &mut Errors) {
    for step in graph.steps() {
        let options = &step.options;
        if let Some(limit) = &options.limit {
            errors.at(limit, "`limit` is not supported yet");
        }
        if let Some(span) = options.blocking {
            errors.span(span, "`blocking` is not supported yet");
        }
        if let Some(span) = options.graph {
            errors.span(span, "`graph` is not supported yet");
        }
    }
    for shared in graph
        .parsed
        .inputs
        .iter()
        .filter_map(|input| input.shared.as_ref())
    {
        if shared.exclusive {
            errors.span(shared.span, "`#[shared(exclusive)]` is not supported yet");
        }
    }
}
