//! The code of one node: its inputs, its expression, its options.

mod attempt;
mod env;

use std::collections::HashSet;

use proc_macro2::TokenStream;
use quote::quote_spanned;
use syn::spanned::Spanned;
use syn::visit_mut::VisitMut;
use syn::{Expr, Ident, PathArguments};

use self::attempt::attempts;
pub(super) use self::env::{Env, place};
use self::env::{answer, written_type};
use super::describe::module_path;
use super::emit::rt;
use super::ends::Ends;
use super::lend::{expr_that, lent};
use crate::lower::Graph;
use crate::parse::Kind;
use crate::traits::Traits;

/// Binds names that a step may have misspelt, so that rustc can suggest them.
pub(super) fn suggestions(graph: &Graph, step: usize) -> impl Iterator<Item = TokenStream> + '_ {
    let slips = graph.slips.iter().filter(move |slip| slip.step == step);
    let unused = slips.filter(move |slip| !graph.inputs_of(step).contains(&slip.meant));
    unused.map(|slip| {
        let name = &graph.values[slip.meant].name;
        emit!(#[allow(unused_variables)] let #name = ();)
    })
}

/// The value of a node, with its options, for use in an async block.
pub(super) fn value(graph: &Graph, index: usize, env: &Env) -> TokenStream {
    let step = &graph.steps()[index];
    let Kind::Node(node) = &step.kind else {
        return TokenStream::new();
    };
    let lent = lent(graph, index);
    let mut written = node.expr.clone();
    if env.sub_runs && step.options.graph.is_some() {
        SubRun.visit_expr_mut(&mut written);
    }
    if step.options.attempts() {
        return attempts(graph, index, &written, &lent, env);
    }
    let expr = env.locked(unlimited(graph, index, &written, &lent, env));
    match &env.pass {
        Some(pass) if env.leaves => emit! {{
            let __pass = #pass;
            let __permit = __pass.enter().await;
            let __value = #expr;
            __pass.leave().await;
            __value
        }},
        Some(pass) => emit!({ let __permit = #pass.enter().await; #expr }),
        None => expr,
    }
}

/// An input of a node; a list of one, if the node gathers it.
pub(super) fn alone(graph: &Graph, step: usize, value: usize, taken: TokenStream) -> TokenStream {
    match &graph.steps()[step].options.batch {
        Some(batch) if graph.values[value].name == batch.value => emit!(::std::vec![#taken]),
        _ => taken,
    }
}

/// The value of a node without options.
fn unlimited(
    graph: &Graph,
    index: usize,
    written: &Expr,
    lent: &HashSet<Ident>,
    env: &Env,
) -> TokenStream {
    let rt = rt(&graph.parsed);
    let output = &graph.parsed.output;
    let traits = Traits::of_expr(written);
    let ends = match traits.only_question() {
        Some(_) if env.scripted.is_some() => Ends::Known,
        _ => Ends::Run,
    };
    let code = expr_that(graph, written, lent, ends);
    let code = answer(graph, index, env, code);
    if env.scripted.is_none() {
        return code;
    }
    let ty = written_type(graph, index, env);
    if !traits.fails() {
        let code = env.unless_scripted(code, &emit!(__scripted.value()));
        return emit!({ let __value #ty = #code; __value });
    }
    let own = match ends {
        Ends::Known => emit!(_),
        _ => emit!(<#output as #rt::Question<#output>>::Failed),
    };
    let failed = emit!(#rt::question::<#output, _>(__own.failed(__failed))?);
    let how = emit! {
        match __scripted.split() {
            ::core::result::Result::Ok(__value) => __value,
            ::core::result::Result::Err(__failed) => match #failed {},
        }
    };
    let code = env.unless_scripted(code, &how);
    emit! {{
        let __own = #rt::Own::<#own>::new();
        let __value #ty = #code;
        __value
    }}
}

/// Makes `other(…).await` a run on the executor of this run.
struct SubRun;

impl VisitMut for SubRun {
    fn visit_expr_await_mut(&mut self, expr: &mut syn::ExprAwait) {
        if let Expr::Call(call) = &*expr.base {
            let Expr::Path(called) = &*call.func else {
                return;
            };
            let path = module_path(&called.path);
            let on = quote_spanned!(path.span()=> #path::on);
            let args = &call.args;
            let types = called
                .path
                .segments
                .last()
                .and_then(|last| match &last.arguments {
                    PathArguments::AngleBracketed(types) => Some(types),
                    _ => None,
                });
            let run = emit! {
                #on(__ctx.spawner()).__within(__ctx.bound()).run #types (#args)
            };
            *expr.base = syn::parse2(run).expect("an expression");
        }
    }
}
