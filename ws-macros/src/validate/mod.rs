//! The rules of the language. Each is one function, named like its test in `tests/ui/fail`.
//!
//! Every rule checks the whole graph and reports all violations, each at the token to change.
//! Types, moves and traits are left to rustc.

mod gates;
mod items;
mod names;
mod nodes;
mod options;
mod signature;

use crate::errors::Errors;
use crate::lower::Graph;

/// Applies every rule.
pub(crate) fn validate(graph: &Graph, errors: &mut Errors) {
    signature::not_async(graph, errors);
    signature::plain_function(graph, errors);
    signature::borrowed_input(graph, errors);
    signature::shared_input(graph, errors);
    signature::shared_pattern(graph, errors);
    signature::exclusive_input(graph, errors);
    signature::owned_result(graph, errors);

    names::duplicate_name(graph, errors);
    names::let_mut(graph, errors);
    names::unknown_name(graph, errors);
    names::use_before_definition(graph, errors);
    names::unused_node(graph, errors);

    items::copied_item(graph, errors);

    nodes::return_in_node(graph, errors);
    nodes::question_without_result(graph, errors);
    nodes::cycle_through_after(graph, errors);
    nodes::cfg_on_node(graph, errors);

    options::after_unknown(graph, errors);
    options::retry_of_what_cannot_fail(graph, errors);
    options::fallback_of_what_cannot_fail(graph, errors);
    options::timeout_without_way_out(graph, errors);
    options::option_of_value(graph, errors);
    options::inline_or_spawn(graph, errors);
    options::blocking_node(graph, errors);
    options::graph_of_no_call(graph, errors);
    options::graph_of_itself(graph, errors);

    gates::gates_without_stream(graph, errors);
    gates::batch_of_what(graph, errors);
    gates::gates_that_clash(graph, errors);
    gates::flat_twice(graph, errors);
    gates::queue_between_what(graph, errors);
}
