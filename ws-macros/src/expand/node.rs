//! The code of one node: its inputs, its expression, its options.

use std::collections::HashSet;

use proc_macro2::{Group, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote_spanned};
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{Expr, Ident, Pat, PathArguments, Stmt, Token};

use super::describe::module_path;
use super::parallel::signature::unspeakable;
use super::{gate, rt};
use crate::lower::Graph;
use crate::names::{Position, walk_expr, walk_stmt};
use crate::options::Options;
use crate::parse::{Kind, Node};
use crate::traits::{Traits, is_skip};

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
fn lend(name: &Ident, lent: &HashSet<Ident>) -> Option<Expr> {
    let span = name.span();
    lent.contains(name)
        .then(|| syn::parse2(quote_spanned!(span=> *#name)).expect("an expression"))
}

/// An expression as it is compiled: names in `lent` are references, and `?` says in our
/// words what it cannot convert.
pub(super) fn expr(graph: &Graph, expr: &Expr, lent: &HashSet<Ident>) -> Expr {
    let mut expr = expr.clone();
    if !lent.is_empty() {
        walk_expr(&mut expr, &mut |name: &Ident, _: Position| lend(name, lent));
    }
    Questions { graph }.visit_expr_mut(&mut expr);
    expr
}

/// The same for a statement.
pub(super) fn stmt(graph: &Graph, stmt: &Stmt, lent: &HashSet<Ident>) -> Stmt {
    let mut stmt = stmt.clone();
    if !lent.is_empty() {
        walk_stmt(&mut stmt, &mut |name: &Ident, _: Position| lend(name, lent));
    }
    Questions { graph }.visit_stmt_mut(&mut stmt);
    stmt
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
    /// What a test says about this node, if that can be.
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

    /// `code`, or what a test says, `how` that becomes one.
    fn unless_scripted(&self, code: TokenStream, how: &TokenStream) -> TokenStream {
        match &self.scripted {
            Some(scripted) => emit! {
                match #scripted {
                    ::core::option::Option::Some(__scripted) => __scripted.#how(),
                    ::core::option::Option::None => #code,
                }
            },
            None => code,
        }
    }
}

/// The value of a node, options and all, for use inside of an async block.
pub(super) fn value(graph: &Graph, index: usize, env: &Env) -> TokenStream {
    let step = &graph.steps()[index];
    let Kind::Node(Node { expr: written, .. }) = &step.kind else {
        return TokenStream::new();
    };
    let lent = lent(graph, index);
    let mut written = written.clone();
    if env.sub_runs && step.options.graph.is_some() {
        SubRun.visit_expr_mut(&mut written);
    }
    if step.options.attempts() {
        return attempts(graph, &step.options, &written, &lent, env);
    }
    let expr = env.locked(unlimited(graph, &step.options, &written, &lent, env));
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

/// The answer for one item, if `answers` are those for a batch of it alone.
fn answer(graph: &Graph, options: &Options, env: &Env, answers: TokenStream) -> TokenStream {
    if env.single && options.batch.is_some() {
        let rt = rt(&graph.parsed);
        emit!(#rt::single(#answers))
    } else {
        answers
    }
}

/// The value of a node without options.
fn unlimited(
    graph: &Graph,
    options: &Options,
    written: &Expr,
    lent: &HashSet<Ident>,
    env: &Env,
) -> TokenStream {
    let single = env.single && options.batch.is_some();
    match written {
        Expr::Try(last) if env.scripted.is_some() || single => {
            let operand = expr(graph, &last.expr, lent).into_token_stream();
            let operand = answer(graph, options, env, operand);
            let operand = env.unless_scripted(operand, &emit!(result));
            question(graph, operand, &last.question_token)
        }
        _ => {
            let whole = expr(graph, written, lent).into_token_stream();
            let whole = answer(graph, options, env, whole);
            env.unless_scripted(whole, &emit!(value))
        }
    }
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

fn attempts(
    graph: &Graph,
    options: &Options,
    written: &Expr,
    lent: &HashSet<Ident>,
    env: &Env,
) -> TokenStream {
    let rt = rt(&graph.parsed);
    let output = &graph.parsed.output;
    let span = written.span();
    let failed = emit!(::core::result::Result::Err::<::core::convert::Infallible, _>(__error));
    // What fails and is tried again is the operand of the last `?`, with its own error;
    // if there is more than that one, it is the whole expression with the graph's error.
    let (attempt, error) = match written {
        Expr::Try(last) if !Traits::of_expr(&last.expr).fails() => {
            let operand = expr(graph, &last.expr, lent).into_token_stream();
            let operand = answer(graph, options, env, operand);
            let operand = env.unless_scripted(operand, &emit!(result));
            (operand, question(graph, failed, &last.question_token))
        }
        _ => {
            let whole = expr(graph, written, lent).into_token_stream();
            let whole = answer(graph, options, env, whole);
            if Traits::of_expr(written).fails() {
                {
                    let whole = emit!(<#output as #rt::Outcome>::wrap(#whole));
                    (env.unless_scripted(whole, &emit!(result)), emit!(#failed?))
                }
            } else {
                let never = emit!(::core::convert::Infallible);
                {
                    let whole = emit!(::core::result::Result::Ok::<_, #never>(#whole));
                    (env.unless_scripted(whole, &emit!(result)), emit!(__error))
                }
            }
        }
    };
    let late = match &options.timeout {
        Some(timeout) => {
            let output = respan(output, timeout.span);
            let late = emit!(__late);
            quote_spanned!(timeout.span=> #rt::late::<#output>(#late)?)
        }
        None => emit!(#rt::never_late(__late)),
    };
    let failed = match &options.fallback {
        Some(fallback) => {
            let fallback = env.locked(expr(graph, fallback, lent).into_token_stream());
            emit!(::core::result::Result::Err(_) => #fallback)
        }
        None => emit! {
            ::core::result::Result::Err(#rt::Failure::Error(__error)) => match #error {},
            ::core::result::Result::Err(#rt::Failure::TimedOut(__late)) => match #late {},
        },
    };
    let (retry, when) = retry(&rt, options);
    let timeout = match &options.timeout {
        Some(timeout) => {
            let duration = &timeout.duration;
            emit!(::core::option::Option::Some(#duration))
        }
        None => emit!(::core::option::Option::None),
    };
    let attempt = env.locked(attempt);
    let attempt = quote_spanned!(span=> || async { #attempt });
    let site = &env.site;
    let pass = match &env.pass {
        Some(pass) if env.leaves && options.fallback.is_some() => emit!(#pass.or_fallback()),
        Some(pass) => pass.clone(),
        None => emit!(#rt::Pass::free()),
    };
    emit! {
        match #rt::attempts(#site, #retry, #timeout, #pass, #when, #attempt).await {
            ::core::result::Result::Ok(__value) => __value,
            #failed
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

fn retry(rt: &TokenStream, options: &Options) -> (TokenStream, TokenStream) {
    let Some(retry) = &options.retry else {
        return (emit!(#rt::Retry::NEVER), emit!(|_: &_| false));
    };
    let retries = &retry.retries;
    let zero = emit!(::core::time::Duration::ZERO);
    let (pause, longest) = retry.backoff.clone().unwrap_or((zero.clone(), zero));
    let when = match &retry.when {
        Some(when) => emit!(#when),
        None => emit!(|_: &_| true),
    };
    (
        emit!(#rt::Retry { retries: #retries, pause: #pause, longest: #longest }),
        when,
    )
}

/// `operand?`, by way of a trait that explains itself.
fn question(graph: &Graph, operand: TokenStream, question: &Token![?]) -> TokenStream {
    let span = question.spans[0];
    let rt = respan(rt(&graph.parsed), span);
    let output = respan(&graph.parsed.output, span);
    quote_spanned!(span=> #rt::question::<#output, _>(#operand)#question)
}

/// `skip!()`: the run of the item ends here.
fn skip() -> TokenStream {
    emit!(match __run.skip().await {})
}

/// Applies [`question`] to every `?` of the graph's own, and understands `skip!()`.
struct Questions<'g> {
    graph: &'g Graph,
}

impl VisitMut for Questions<'_> {
    fn visit_stmt_mut(&mut self, stmt: &mut Stmt) {
        if let Stmt::Macro(call) = stmt {
            if is_skip(&call.mac) {
                *stmt = Stmt::Expr(Expr::Verbatim(skip()), call.semi_token);
                return;
            }
        }
        visit_mut::visit_stmt_mut(self, stmt);
    }

    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        if matches!(expr, Expr::Macro(call) if is_skip(&call.mac)) {
            *expr = Expr::Verbatim(skip());
            return;
        }
        visit_mut::visit_expr_mut(self, expr);
        if let Expr::Try(ended) = expr {
            let operand = &ended.expr;
            let tokens = question(self.graph, emit!(#operand), &ended.question_token);
            *expr = Expr::Verbatim(tokens);
        }
    }

    // Their `?`s are their own.
    fn visit_expr_closure_mut(&mut self, _: &mut syn::ExprClosure) {}
    fn visit_expr_async_mut(&mut self, _: &mut syn::ExprAsync) {}
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

/// Makes `return value` in a fence of a parallel run end the run, and not only the block
/// that the fence is compiled to. It comes before [`Questions`], which hides what it has
/// seen.
pub(super) struct Returns<'a> {
    pub(super) exit: &'a dyn Fn(TokenStream) -> TokenStream,
}

impl VisitMut for Returns<'_> {
    fn visit_expr_return_mut(&mut self, ret: &mut syn::ExprReturn) {
        visit_mut::visit_expr_return_mut(self, ret);
        let value = ret.expr.take().map_or(emit!(()), |value| emit!(#value));
        let exit = syn::parse2((self.exit)(value)).expect("an expression");
        ret.expr = Some(Box::new(exit));
    }

    // Their `return`s are their own.
    fn visit_expr_closure_mut(&mut self, _: &mut syn::ExprClosure) {}
    fn visit_expr_async_mut(&mut self, _: &mut syn::ExprAsync) {}
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}
