//! The whole run, and partial runs: `run`, `until_x`.

use proc_macro2::{Literal, TokenStream};
use quote::format_ident;
use syn::ext::IdentExt;
use syn::{Ident, Pat, Type};

use super::plan::plan;
use super::signature::{self, Signature};
use crate::expand::emit::{quiet, rt};
use crate::lower::{Graph, Maker};
use crate::parse::Kind;

pub(super) fn run(graph: &Graph) -> TokenStream {
    let parsed = &graph.parsed;
    let (rt, vis) = (rt(parsed), &parsed.plain.vis);
    let Signature {
        mut generics,
        params,
        args,
    } = Signature::new(parsed);
    let output = &parsed.output;
    generics
        .make_where_clause()
        .predicates
        .push(syn::parse_quote!(__D: #rt::DeadlineFor<#output>));
    let (impl_generics, _, clause) = generics.split_for_impl();
    let plan = plan(graph, |_| true);
    emit! {
        /// Runs the graph: nodes whose inputs are ready run at the same time.
        ///
        /// Dropping the future cancels the run.
        ///
        /// # Panics
        /// With the panic of a node, after the others are cancelled; or if the executor
        /// was shut down.
        #vis fn run #impl_generics (self, #params) -> impl ::core::future::Future<Output = #output> + ::core::marker::Send
        #clause
        {
            #plan
            let __run = Self::__start(self.bound, &__PLAN, 0, #(#args),*);
            async move {
                match __run.await {
                    #rt::Ended::Exit(__result) => __result,
                    #rt::Ended::Late => <__D as #rt::DeadlineFor<#output>>::late(),
                    #rt::Ended::Complete(_) => #rt::no_result(),
                }
            }
        }
    }
}

/// Whether there is a partial run for a value.
pub(super) enum Partial {
    Yes,
    /// No, but a user may expect it: the reason, and what to do.
    No(String, String),
    /// No, and no user expects it: an input, a part of a pattern, a name that begins with `_`.
    Never,
}

pub(super) fn partial(graph: &Graph, value: usize) -> Partial {
    let name = graph.values[value].name.unraw().to_string();
    let Maker::Step(maker) = graph.values[value].maker else {
        return Partial::Never;
    };
    let Kind::Node(node) = &graph.steps()[maker].kind else {
        return Partial::Never;
    };
    if !matches!(node.pat, Pat::Ident(_)) || name.starts_with('_') {
        return Partial::Never;
    }
    let returns = (0..graph.steps().len())
        .any(|step| graph.ancestors[maker][step] && !graph.steps()[step].traits.returns.is_empty());
    match &node.ty {
        None => Partial::No(
            format!("the type of node `{name}` is not written"),
            format!("write it: `let {name}: Type = …;`"),
        ),
        Some(_) if returns => Partial::No(
            format!("a `return` above node `{name}` may keep it from being computed"),
            "put the `return` below it, or run the whole graph".to_owned(),
        ),
        Some(ty) => match signature::unspeakable(&graph.parsed, ty) {
            None => Partial::Yes,
            Some(why) => Partial::No(
                format!("the type of node `{name}` {why}"),
                "write one that could stand in the signature of another function".to_owned(),
            ),
        },
    }
}

/// The values that have a partial run.
pub(super) fn public(graph: &Graph) -> Vec<usize> {
    (0..graph.values.len())
        .filter(|&value| matches!(partial(graph, value), Partial::Yes))
        .collect()
}

pub(super) fn until_name(graph: &Graph, value: usize) -> Ident {
    let name = &graph.values[value].name;
    format_ident!("until_{}", name.unraw(), span = name.span())
}

pub(super) fn until(graph: &Graph, value: usize) -> TokenStream {
    let parsed = &graph.parsed;
    let (rt, vis) = (rt(parsed), &parsed.plain.vis);
    let (Maker::Step(maker), Some(ty)) = (graph.values[value].maker, written_type(graph, value))
    else {
        return TokenStream::new();
    };
    let name = graph.values[value].name.unraw();
    let method = until_name(graph, value);
    let output = &parsed.output;
    let result = if parsed.fallible() {
        emit!(<#output as #rt::Outcome>::With<#ty>)
    } else {
        emit!(#ty)
    };
    let Signature {
        mut generics,
        params,
        args,
    } = Signature::new(parsed);
    generics
        .make_where_clause()
        .predicates
        .push(syn::parse_quote!(__D: #rt::DeadlineFor<#result>));
    let (impl_generics, _, clause) = generics.split_for_impl();
    let plan = plan(graph, |step| step == maker || graph.ancestors[maker][step]);
    let place = public(graph)
        .iter()
        .position(|&other| other == value)
        .map(Literal::usize_unsuffixed);
    let number = target(value);
    let (exit, wrap) = if parsed.fallible() {
        (
            emit!(#rt::early::<#output, #ty>(__result)),
            emit!(<#output as #rt::Outcome>::wrap(__value)),
        )
    } else {
        (emit!(#rt::no_value(__result)), emit!(__value))
    };
    let doc = format!("Runs only what `{name}` needs, and returns its value.");
    emit! {
        #[doc = #doc]
        #vis fn #method #impl_generics (self, #params) -> impl ::core::future::Future<Output = #result> + ::core::marker::Send
        #clause
        {
            #plan
            let __run = Self::__start(self.bound, &__PLAN, #number, #(#args),*);
            async move {
                match __run.await {
                    #rt::Ended::Exit(__result) => #exit,
                    #rt::Ended::Late => <__D as #rt::DeadlineFor<#result>>::late(),
                    #rt::Ended::Complete(__picked) => match __picked.#place {
                        ::core::option::Option::Some(__value) => #wrap,
                        ::core::option::Option::None => #rt::no_result(),
                    },
                }
            }
        }
    }
}

/// A method whose error message says why there is no partial run: it demands a trait that no
/// type implements.
pub(super) fn trap(graph: &Graph, value: usize) -> Option<(TokenStream, TokenStream)> {
    let Partial::No(why, label) = partial(graph, value) else {
        return None;
    };
    let parsed = &graph.parsed;
    let name = graph.values[value].name.unraw();
    let method = format_ident!("until_{name}");
    let function = parsed.plain.sig.ident.unraw();
    let guard = format_ident!("__{function}_until_{name}");
    let message = format!("there is no `until_{name}`: {why}");
    let Signature {
        mut generics,
        params,
        ..
    } = Signature::new(parsed);
    generics
        .make_where_clause()
        .predicates
        .push(syn::parse_quote!(__S: #guard));
    let (impl_generics, _, clause) = generics.split_for_impl();
    let quiet = quiet();
    let definition = emit! {
        #[doc(hidden)]
        #quiet
        #[allow(non_camel_case_types)]
        #[diagnostic::on_unimplemented(message = #message, label = #label)]
        pub trait #guard {}
    };
    let method = emit! {
        #[doc(hidden)]
        pub fn #method #impl_generics (self, #params) -> ::core::future::Ready<()> #clause {
            ::core::unreachable!()
        }
    };
    Some((definition, method))
}

pub(super) fn written_type(graph: &Graph, value: usize) -> Option<&Type> {
    match graph.values[value].maker {
        Maker::Step(step) => match &graph.steps()[step].kind {
            Kind::Node(node) => node.ty.as_ref(),
            _ => None,
        },
        Maker::Input(_) => None,
    }
}

/// The number of a partial run; 0 is the whole run.
pub(super) fn target(value: usize) -> u32 {
    u32::try_from(value + 1).unwrap_or(u32::MAX)
}
