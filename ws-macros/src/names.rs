//! Which names an expression uses, found on the syntax tree.
//!
//! A use is a path of one segment in the place of a value. Field and method names are
//! none, and neither is a name that a closure, a `let`, a `match` arm or a loop inside
//! the expression binds itself: the walk keeps the scopes that Rust would. In a macro
//! call whose input reads as expressions (`format!`, `vec!`, `assert!`, `join!`, …)
//! uses are found like anywhere else, and `{name}` in a string literal is one; in any
//! other macro every identifier of that name is taken for one.
//!
//! The same walk replaces uses, which the expansion needs for values that are lent.

use std::collections::HashSet;

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::visit::Visit;
use syn::visit_mut::{self, VisitMut};
use syn::{Block, Expr, ExprLit, Ident, Lit, Macro, Pat, Stmt, Token};

use crate::format;

/// Where a name stands, as far as that tells what it may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Position {
    /// `name(…)`: most likely a function.
    Callee,
    /// `f(name)`.
    Argument,
    /// `x.f(name)`: perhaps a function as well.
    MethodArgument,
    /// Anywhere else in an expression.
    Place,
    /// `{name}` in a format string; cannot be replaced.
    Format,
    /// In a macro whose input is not expressions; cannot be replaced.
    Opaque,
}

/// What is done with each use.
pub(crate) trait Uses {
    /// Looks at a use, and may replace it.
    fn found(&mut self, name: &Ident, position: Position) -> Option<Expr>;
}

impl<F: FnMut(&Ident, Position) -> Option<Expr>> Uses for F {
    fn found(&mut self, name: &Ident, position: Position) -> Option<Expr> {
        self(name, position)
    }
}

/// Walks over an expression.
pub(crate) fn walk_expr(expr: &mut Expr, uses: &mut impl Uses) {
    Walk::new(uses).visit_expr_mut(expr);
}

/// Walks over an expression that is most likely a function.
pub(crate) fn walk_callee(expr: &mut Expr, uses: &mut impl Uses) {
    Walk::new(uses).visit_at(expr, Position::Callee);
}

/// Walks over a statement that is not a `let`.
pub(crate) fn walk_stmt(stmt: &mut Stmt, uses: &mut impl Uses) {
    Walk::new(uses).visit_stmt_mut(stmt);
}

/// The names that a pattern binds, in order.
pub(crate) fn bound_names(pat: &Pat) -> Vec<Ident> {
    struct Bound(Vec<Ident>);
    impl<'ast> Visit<'ast> for Bound {
        fn visit_pat_ident(&mut self, pat: &'ast syn::PatIdent) {
            // By convention a name in capitals is a constant or a unit variant.
            let constant = pat.subpat.is_none()
                && pat
                    .ident
                    .unraw()
                    .to_string()
                    .starts_with(char::is_uppercase);
            if !constant {
                self.0.push(pat.ident.clone());
            }
            syn::visit::visit_pat_ident(self, pat);
        }
    }
    let mut bound = Bound(Vec::new());
    bound.visit_pat(pat);
    bound.0
}

struct Walk<'u, U> {
    /// Names that the expression binds itself, innermost last.
    scopes: Vec<HashSet<Ident>>,
    uses: &'u mut U,
}

impl<'u, U: Uses> Walk<'u, U> {
    fn new(uses: &'u mut U) -> Self {
        Self {
            scopes: vec![HashSet::new()],
            uses,
        }
    }

    fn scoped(&mut self, code: impl FnOnce(&mut Self)) {
        self.scopes.push(HashSet::new());
        code(self);
        self.scopes.pop();
    }

    fn bind(&mut self, pat: &Pat) {
        self.bind_names(bound_names(pat));
    }

    fn bind_names(&mut self, names: impl IntoIterator<Item = Ident>) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.extend(names);
        }
    }

    fn use_name(&mut self, name: &Ident, position: Position) -> Option<Expr> {
        let own = self.scopes.iter().any(|scope| scope.contains(name));
        if own {
            None
        } else {
            self.uses.found(name, position)
        }
    }

    /// Visits an expression that stands at `position`.
    fn visit_at(&mut self, expr: &mut Expr, position: Position) {
        let Some(name) = single(expr) else {
            return self.visit_expr_mut(expr);
        };
        if let Some(other) = self.use_name(&name, position) {
            *expr = other;
        }
    }

    fn tokens(&mut self, tokens: TokenStream) {
        for token in tokens {
            match token {
                TokenTree::Group(group) => self.tokens(group.stream()),
                TokenTree::Ident(name) => {
                    self.use_name(&name, Position::Opaque);
                }
                TokenTree::Literal(literal) => self.literal(&Lit::new(literal)),
                TokenTree::Punct(_) => {}
            }
        }
    }

    fn literal(&mut self, literal: &Lit) {
        let Lit::Str(text) = literal else { return };
        for name in format::captures(&text.value()) {
            self.use_name(&Ident::new(&name, text.span()), Position::Format);
        }
    }

    /// One input of a macro. A bare `name = value` names an argument.
    fn macro_input(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Lit(ExprLit { lit, .. }) => self.literal(lit),
            Expr::Assign(assign) if single(&assign.left).is_some() => {
                self.visit_expr_mut(&mut assign.right);
            }
            other => self.visit_expr_mut(other),
        }
    }
}

/// The name, if the expression is just that.
fn single(expr: &Expr) -> Option<Ident> {
    match expr {
        Expr::Path(path) if path.qself.is_none() => path.path.get_ident().cloned(),
        Expr::Group(group) => single(&group.expr),
        _ => None,
    }
}

impl<U: Uses> VisitMut for Walk<'_, U> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Path(_) | Expr::Group(_) if single(expr).is_some() => {
                self.visit_at(expr, Position::Place);
            }
            Expr::Call(call) => {
                self.visit_at(&mut call.func, Position::Callee);
                for input in &mut call.args {
                    self.visit_at(input, Position::Argument);
                }
            }
            Expr::MethodCall(call) => {
                self.visit_expr_mut(&mut call.receiver);
                for input in &mut call.args {
                    self.visit_at(input, Position::MethodArgument);
                }
            }
            Expr::Struct(literal) => {
                for field in &mut literal.fields {
                    let before = field.expr.clone();
                    self.visit_expr_mut(&mut field.expr);
                    if field.colon_token.is_none() && field.expr != before {
                        field.colon_token = Some(<Token![:]>::default());
                    }
                }
                if let Some(rest) = &mut literal.rest {
                    self.visit_expr_mut(rest);
                }
            }
            Expr::Closure(closure) => self.scoped(|walk| {
                for input in &closure.inputs {
                    walk.bind(input);
                }
                walk.visit_expr_mut(&mut closure.body);
            }),
            Expr::If(branch) => {
                self.scoped(|walk| {
                    walk.visit_expr_mut(&mut branch.cond);
                    walk.visit_block_mut(&mut branch.then_branch);
                });
                if let Some((_, other)) = &mut branch.else_branch {
                    self.visit_expr_mut(other);
                }
            }
            Expr::While(repeat) => self.scoped(|walk| {
                walk.visit_expr_mut(&mut repeat.cond);
                walk.visit_block_mut(&mut repeat.body);
            }),
            Expr::Let(condition) => {
                self.visit_expr_mut(&mut condition.expr);
                self.bind(&condition.pat);
            }
            Expr::ForLoop(repeat) => {
                self.visit_expr_mut(&mut repeat.expr);
                self.scoped(|walk| {
                    walk.bind(&repeat.pat);
                    walk.visit_block_mut(&mut repeat.body);
                });
            }
            Expr::Match(choice) => {
                self.visit_expr_mut(&mut choice.expr);
                for arm in &mut choice.arms {
                    self.scoped(|walk| {
                        walk.bind(&arm.pat);
                        if let Some((_, guard)) = &mut arm.guard {
                            walk.visit_expr_mut(guard);
                        }
                        walk.visit_expr_mut(&mut arm.body);
                    });
                }
            }
            other => visit_mut::visit_expr_mut(self, other),
        }
    }

    fn visit_block_mut(&mut self, block: &mut Block) {
        self.scoped(|walk| {
            for stmt in &mut block.stmts {
                walk.visit_stmt_mut(stmt);
            }
        });
    }

    fn visit_stmt_mut(&mut self, stmt: &mut Stmt) {
        match stmt {
            Stmt::Local(local) => {
                if let Some(init) = &mut local.init {
                    self.visit_expr_mut(&mut init.expr);
                    if let Some((_, other)) = &mut init.diverge {
                        self.visit_expr_mut(other);
                    }
                }
                self.bind(&local.pat);
            }
            Stmt::Item(item) => self.bind_names(item_name(item)),
            Stmt::Expr(expr, _) => self.visit_expr_mut(expr),
            Stmt::Macro(stmt) => self.visit_macro_mut(&mut stmt.mac),
        }
    }

    fn visit_macro_mut(&mut self, mac: &mut Macro) {
        let list = Punctuated::<Expr, Token![,]>::parse_terminated;
        if let Ok(mut inputs) = list.parse2(mac.tokens.clone()) {
            for input in &mut inputs {
                self.macro_input(input);
            }
            mac.tokens = inputs.into_token_stream();
        } else if let Ok((mut item, semi, mut count)) = repeated.parse2(mac.tokens.clone()) {
            self.macro_input(&mut item);
            self.macro_input(&mut count);
            mac.tokens = quote::quote!(#item #semi #count);
        } else {
            self.tokens(mac.tokens.clone());
        }
    }

    // Neither types, nor patterns, nor items use the values of a function.
    fn visit_type_mut(&mut self, _: &mut syn::Type) {}
    fn visit_pat_mut(&mut self, _: &mut Pat) {}
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

/// The input of `vec![item; count]`.
fn repeated(input: syn::parse::ParseStream<'_>) -> syn::Result<(Expr, Token![;], Expr)> {
    Ok((input.parse()?, input.parse()?, input.parse()?))
}

/// The value that an item inside a block gives a name to.
fn item_name(item: &syn::Item) -> Option<Ident> {
    match item {
        syn::Item::Fn(item) => Some(item.sig.ident.clone()),
        syn::Item::Const(item) => Some(item.ident.clone()),
        syn::Item::Static(item) => Some(item.ident.clone()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Position, walk_expr};
    use quote::ToTokens;
    use syn::{Expr, Ident, parse_quote};

    fn uses(mut expr: Expr) -> Vec<String> {
        let mut found = Vec::new();
        walk_expr(&mut expr, &mut |name: &Ident, position: Position| {
            if position != Position::Callee {
                found.push(name.to_string());
            }
            None
        });
        found
    }

    #[test]
    fn values_are_uses_and_fields_methods_and_functions_are_not() {
        assert_eq!(uses(parse_quote!(f(&a.b.c, d.e(g)))), ["a", "d", "g"]);
        assert_eq!(uses(parse_quote!(S { a, b: c, ..d })), ["a", "c", "d"]);
        assert_eq!(uses(parse_quote!(m::a + T::b(c))), ["c"]);
    }

    #[test]
    fn own_names_are_not_uses() {
        assert_eq!(uses(parse_quote!(a.map(|b| b + c))), ["a", "c"]);
        assert_eq!(
            uses(parse_quote!({
                let a = a;
                a + b
            })),
            ["a", "b"]
        );
        assert_eq!(
            uses(parse_quote!(match a {
                Some(b) if b > c => b,
                d => e,
            })),
            ["a", "c", "e"]
        );
        assert_eq!(
            uses(parse_quote!(if let Some(a) = a { a } else { a })),
            ["a", "a"]
        );
        assert_eq!(
            uses(parse_quote!({
                for a in a {
                    a;
                }
            })),
            ["a"]
        );
        assert_eq!(
            uses(parse_quote!({
                fn a() {}
                a
            })),
            Vec::<String>::new()
        );
    }

    #[test]
    fn macros_are_looked_into() {
        assert_eq!(
            uses(parse_quote!(format!("{a:?} {}", b.c, d = e))),
            ["a", "b", "e"]
        );
        assert_eq!(uses(parse_quote!(vec![a; b])), ["a", "b"]);
        assert_eq!(
            uses(parse_quote!(json!({ "x": a, y: [b] }))),
            ["a", "y", "b"]
        );
        assert_eq!(uses(parse_quote!(join!(f(&a), g(b)))), ["a", "b"]);
    }

    #[test]
    fn uses_are_replaced() {
        let mut expr: Expr = parse_quote!(f(&a, a.b(), S { a, c: 1 }, |a| a, vec![a]));
        walk_expr(&mut expr, &mut |name: &Ident, _: Position| {
            (name == "a").then(|| parse_quote!(*a))
        });
        let expected: Expr = parse_quote!(f(&*a, (*a).b(), S { a: *a, c: 1 }, |a| a, vec![*a]));
        assert_eq!(
            expr.to_token_stream().to_string(),
            expected.to_token_stream().to_string()
        );
    }
}
