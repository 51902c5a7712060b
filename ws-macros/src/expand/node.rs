//! The code of one node: its inputs, its expression, its options.

mod attempt;

use std::collections::HashSet;

use proc_macro2::{Group, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote_spanned};
use syn::spanned::Spanned;
use syn::visit_mut::VisitMut;
use syn::{Expr, Ident, Pat, PathArguments, Stmt};

use self::attempt::attempts;
use super::describe::module_path;
use super::ends::{Ends, Questions};
use super::parallel::signature::unspeakable;
use super::{gate, rt};
use crate::lower::Graph;
use crate::names::{Position, Uses, walk_expr, walk_stmt};
use crate::parse::{Kind, Node};
use crate::traits::Traits;

/// The values that a step sees behind a reference: those that it does not move, and all
/// if it may be tried again. Inputs that are `#[shared]` are references already.
pub(super) fn lent(graph: &Graph, step: usize) -> HashSet<Ident> {
    let again = graph.steps()[step].options.retry.is_some();
    graph
        .inputs_of(step)
        .into_iter()
        .filter(|&value| !graph.is_shared_input(value))
        .filter(|&value| again || graph.values[value].mover != Some(step))
        .map(|value| graph.values[value].name.clone())
        .collect()
}

/// Replaces the uses of values that are lent by what they borrow: `order` is bound to a
/// reference, and `order` in the expression means the value, so it becomes `*order`.
///
/// In macros it stays `order`, and so this has to be bound to something that goes for the
/// value: a copy, if it can be copied, or else the reference. What the rest of the
/// expression sees as `order` is then another variable, which only its span tells apart.
struct Lend<'a> {
    lent: &'a HashSet<Ident>,
    in_macros: Vec<Ident>,
}

impl<'a> Lend<'a> {
    /// `look` walks over the code.
    fn new(lent: &'a HashSet<Ident>, look: impl FnOnce(&mut dyn Uses)) -> Self {
        let mut in_macros = Vec::new();
        look(&mut |name: &Ident, position: Position| {
            let lent = position == Position::Opaque && lent.contains(name);
            if lent && !in_macros.contains(name) {
                in_macros.push(name.clone());
            }
            None
        });
        Self { lent, in_macros }
    }

    /// What a name that is bound to a reference is called outside of macros.
    fn reference(&self, name: &Ident) -> Ident {
        let mut reference = name.clone();
        if self.in_macros.contains(name) {
            reference.set_span(name.span().resolved_at(Span::mixed_site()));
        }
        reference
    }

    /// What goes before the code.
    fn bindings(&self, graph: &Graph) -> Vec<TokenStream> {
        let rt = rt(&graph.parsed);
        let names = self.in_macros.iter();
        names
            .map(|name| {
                let reference = self.reference(name);
                emit! {
                    let #reference = #name;
                    #[allow(unused_variables)]
                    let #name = #rt::Seen::new(#reference).seen();
                }
            })
            .collect()
    }
}

impl Uses for Lend<'_> {
    fn found(&mut self, name: &Ident, _: Position) -> Option<Expr> {
        let reference = self.reference(name);
        let tokens = quote_spanned!(name.span()=> *#reference);
        let lent = self.lent.contains(name);
        lent.then(|| syn::parse2(tokens).expect("an expression"))
    }
}

/// An expression as it is compiled: names in `lent` are references, and `?` says in our
/// words what it cannot convert.
pub(super) fn expr(graph: &Graph, expr: &Expr, lent: &HashSet<Ident>) -> Expr {
    expr_that(graph, expr, lent, Ends::Run)
}

fn expr_that(graph: &Graph, expr: &Expr, lent: &HashSet<Ident>, ends: Ends) -> Expr {
    let mut code = expr.clone();
    let mut lend = Lend::new(lent, |uses| walk_expr(&mut expr.clone(), uses));
    if !lent.is_empty() {
        walk_expr(&mut code, &mut lend);
    }
    Questions { graph, ends }.visit_expr_mut(&mut code);
    let bindings = lend.bindings(graph);
    if bindings.is_empty() {
        return code;
    }
    syn::parse2(quote_spanned!(expr.span()=> { #(#bindings)* #code })).expect("a block")
}

/// The same for a statement.
pub(super) fn stmt(graph: &Graph, stmt: &Stmt, lent: &HashSet<Ident>) -> Stmt {
    let mut code = stmt.clone();
    let mut lend = Lend::new(lent, |uses| walk_stmt(&mut stmt.clone(), uses));
    if !lent.is_empty() {
        walk_stmt(&mut code, &mut lend);
    }
    let ends = Ends::Run;
    Questions { graph, ends }.visit_stmt_mut(&mut code);
    let bindings = lend.bindings(graph);
    if bindings.is_empty() {
        return code;
    }
    let block = syn::parse2(quote_spanned!(stmt.span()=> { #(#bindings)* #code }));
    Stmt::Expr(block.expect("a block"), None)
}

/// Names that a step may have misspelt are bound to nothing, so that they are there for
/// rustc to suggest.
pub(super) fn suggestions(graph: &Graph, step: usize) -> impl Iterator<Item = TokenStream> + '_ {
    let slips = graph.slips.iter().filter(move |slip| slip.step == step);
    let unused = slips.filter(move |slip| !graph.inputs_of(step).contains(&slip.meant));
    unused.map(|slip| {
        let name = &graph.values[slip.meant].name;
        emit!(#[allow(unused_variables)] let #name = ();)
    })
}

/// Where the code of a node stands.
pub(super) struct Env {
    site: TokenStream,
    /// What an attempt has to pass, and whether it also has to find a place before the
    /// next node.
    pass: Option<TokenStream>,
    leaves: bool,
    /// What an attempt locks when it has passed: who waits at a gate keeps nobody from it.
    locks: Option<TokenStream>,
    /// A batch is of one, and its answers are one.
    single: bool,
    /// What a test says about this node, if that can be; its type is written.
    scripted: Option<TokenStream>,
    /// Graphs that are called with the option `graph` run on the executor of this run.
    sub_runs: bool,
}

impl Env {
    /// In the function itself.
    pub(super) fn plain(graph: &Graph) -> Self {
        let rt = rt(&graph.parsed);
        Self {
            site: emit!(#rt::Site::plain()),
            pass: None,
            leaves: false,
            locks: None,
            single: true,
            scripted: None,
            sub_runs: false,
        }
    }

    /// In a parallel run.
    pub(super) fn parallel(graph: &Graph, index: usize, pass: Option<TokenStream>) -> Self {
        let scripted = match &graph.steps()[index].kind {
            Kind::Node(Node {
                ty: Some(ty),
                pat: Pat::Ident(_),
                ..
            }) if unspeakable(&graph.parsed, ty).is_none() => {
                Some(emit!(__ctx.scripted::<#ty>(#index)))
            }
            _ => None,
        };
        Self {
            site: emit!(__ctx.site(#index)),
            pass,
            leaves: false,
            locks: None,
            single: true,
            scripted,
            sub_runs: true,
        }
    }

    /// In a pipeline.
    pub(super) fn item(graph: &Graph, index: usize) -> Self {
        let options = &graph.steps()[index].options;
        let next = graph.queues_after(index).next();
        let mut pass = emit!(__gates.pass(#index));
        if options.queue.is_some() {
            let place = place(index);
            pass = emit!(#pass.from(&#place));
        }
        if let Some(next) = next {
            let place = place(next);
            pass = emit!(#pass.then(__gates.queue(#next), &#place));
        }
        let passes = options.limit.is_some()
            || options.rate.is_some()
            || options.queue.is_some()
            || next.is_some();
        Self {
            site: emit!(__gates.site(#index)),
            pass: passes.then_some(pass),
            leaves: next.is_some(),
            locks: gate::locks(graph, index),
            single: false,
            scripted: None,
            sub_runs: false,
        }
    }

    /// The same for code that runs elsewhere: what is to be passed, and the rest.
    pub(super) fn split(mut self) -> (Option<TokenStream>, Self) {
        (self.pass.take(), self)
    }

    /// `code` with what it locks.
    fn locked(&self, code: TokenStream) -> TokenStream {
        match &self.locks {
            Some(locks) => emit!({ #locks let __locked = #code; __locked }),
            None => code,
        }
    }

    /// `code`, or what a test says, which `how` becomes one.
    fn unless_scripted(&self, code: TokenStream, how: &TokenStream) -> TokenStream {
        match &self.scripted {
            // The code comes first: it tells the compiler what the error of the node is.
            Some(scripted) => emit! {
                match #scripted {
                    ::core::option::Option::None => #code,
                    ::core::option::Option::Some(__scripted) => #how,
                }
            },
            None => code,
        }
    }
}

/// The value of a node, options and all, for use inside of an async block.
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

/// Where the place before a node with `queue` is kept.
pub(super) fn place(node: usize) -> Ident {
    format_ident!("__place_{node}", span = Span::mixed_site())
}

/// An input of a node; a list of one, where that is what it gathers.
pub(super) fn alone(graph: &Graph, step: usize, value: usize, taken: TokenStream) -> TokenStream {
    match &graph.steps()[step].options.batch {
        Some(batch) if graph.values[value].name == batch.value => emit!(::std::vec![#taken]),
        _ => taken,
    }
}

/// The code of a node; for a batch, the answers for all items, or for the one it is of.
fn answer(graph: &Graph, index: usize, env: &Env, code: Expr) -> TokenStream {
    if graph.steps()[index].options.batch.is_none() {
        return code.into_token_stream();
    }
    let rt = rt(&graph.parsed);
    let answers = emit!(#rt::answers(#code));
    if env.single {
        emit!(#rt::single(#answers))
    } else {
        answers
    }
}

/// The type of a node's code, if it is written: what it is given as in plain Rust, so that
/// it is coerced.
fn written_type(graph: &Graph, index: usize, env: &Env) -> Option<TokenStream> {
    let step = &graph.steps()[index];
    match &step.kind {
        // The code of a batch makes a list of these.
        Kind::Node(_) if !env.single && step.options.batch.is_some() => None,
        Kind::Node(node) => node.ty.as_ref().map(|ty| emit!(: #ty)),
        Kind::Fence(_) | Kind::Tail(_) => None,
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

/// Tokens with another span, for errors that are about what stands there.
pub(super) fn respan(tokens: impl ToTokens, span: Span) -> TokenStream {
    tokens
        .into_token_stream()
        .into_iter()
        .map(|mut token| {
            if let TokenTree::Group(group) = &token {
                token = Group::new(group.delimiter(), respan(group.stream(), span)).into();
            }
            token.set_span(span);
            token
        })
        .collect()
}
