//! From statements to a graph: which step makes and uses each value, and which step waits for
//! which.

use std::collections::{BTreeSet, HashMap};

use syn::Ident;
use syn::ext::IdentExt;

use crate::names::{Position, is_upper, walk_callee, walk_expr, walk_stmt};
use crate::parse::{Kind, Parsed, Step};
use crate::similar::nearest;

/// The graph of a function. Steps and values are named by their index.
pub(crate) struct Graph {
    pub(crate) parsed: Parsed,
    pub(crate) values: Vec<Value>,
    /// Every name that each step uses, even if it is not that of a value.
    pub(crate) uses: Vec<Vec<Use>>,
    /// The steps that each step waits for.
    pub(crate) needs: Vec<BTreeSet<usize>>,
    /// The steps in an order in which they can run: that of the source, except for `after`.
    pub(crate) order: Vec<usize>,
    /// `ancestors[a][b]`: step `a` is ordered after step `b`.
    pub(crate) ancestors: Vec<Vec<bool>>,
    /// Steps that wait for themselves, which only `after` can cause.
    pub(crate) cyclic: Vec<usize>,
    /// The step with `flat`: the steps below run for each of its elements.
    pub(crate) flat: Option<usize>,
    /// Names that may be misspelt.
    pub(crate) slips: Vec<Slip>,
}

/// A value: an input, or a name that a node binds.
pub(crate) struct Value {
    pub(crate) name: Ident,
    pub(crate) maker: Maker,
    /// The steps that use it, in the order of the source, each once.
    pub(crate) users: Vec<usize>,
    /// The user that gets it by value: the only user, or the one that is ordered after all
    /// others.
    pub(crate) mover: Option<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Maker {
    Input(usize),
    Step(usize),
}

/// A name in a step.
pub(crate) struct Use {
    pub(crate) name: Ident,
    pub(crate) position: Position,
    /// The value of this name, if there is one.
    pub(crate) value: Option<usize>,
}

/// A name that is similar to the name of a value, and may be a misspelling of it.
pub(crate) struct Slip {
    pub(crate) step: usize,
    pub(crate) name: Ident,
    pub(crate) meant: usize,
}

impl Graph {
    pub(crate) fn new(parsed: Parsed) -> Self {
        let mut values = make_values(&parsed);
        let uses = find_uses(&parsed, &mut values);
        let mut needs = data_needs(&parsed, &values, &uses);
        add_after(&parsed, &mut needs);
        add_fences(&parsed, &mut needs);
        add_exclusive(&parsed, &values, &mut needs);
        let (order, cyclic) = sort(&needs);
        let ancestors = ancestors(&needs, &order);
        let flat = parsed.steps.iter().position(is_flat);
        for value in &mut values {
            let mover = mover(&parsed, value, &ancestors);
            // Several elements may use values from above `flat`, so no element owns them.
            value.mover = mover.filter(|&mover| !crosses(flat, value.maker, mover));
        }
        let slips = slips(&parsed, &values, &uses);
        Self {
            parsed,
            values,
            slips,
            uses,
            needs,
            order,
            ancestors,
            cyclic,
            flat,
        }
    }

    pub(crate) fn steps(&self) -> &[Step] {
        &self.parsed.steps
    }

    /// The step that binds `name`, in any place.
    pub(crate) fn binder(&self, name: &Ident) -> Option<usize> {
        binder(&self.parsed, name)
    }

    /// The values that a step uses, each once.
    pub(crate) fn inputs_of(&self, step: usize) -> BTreeSet<usize> {
        self.uses[step]
            .iter()
            .filter_map(|used| used.value)
            .collect()
    }

    /// The values that a step makes.
    pub(crate) fn outputs_of(&self, step: usize) -> impl Iterator<Item = usize> + '_ {
        (0..self.values.len()).filter(move |&value| self.values[value].maker == Maker::Step(step))
    }

    /// The steps that a step waits for, without those that follow from the others.
    pub(crate) fn nearest_needs(&self, step: usize) -> Vec<usize> {
        let needs = &self.needs[step];
        needs
            .iter()
            .copied()
            .filter(|&need| !needs.iter().any(|&other| self.ancestors[other][need]))
            .collect()
    }

    /// Whether a value is an input that is marked `#[shared]`.
    pub(crate) fn is_shared_input(&self, value: usize) -> bool {
        match self.values[value].maker {
            Maker::Input(input) => self.parsed.inputs[input].shared.is_some(),
            Maker::Step(_) => false,
        }
    }

    /// Whether a value is an input that is marked `#[shared(exclusive)]`.
    pub(crate) fn is_exclusive(&self, value: usize) -> bool {
        match self.values[value].maker {
            Maker::Input(input) => self.parsed.inputs[input]
                .shared
                .as_ref()
                .is_some_and(|shared| shared.exclusive),
            Maker::Step(_) => false,
        }
    }

    /// The steps that have a limit, in order.
    pub(crate) fn limited(&self) -> Vec<usize> {
        (0..self.steps().len())
            .filter(|&step| self.steps()[step].options.limit.is_some())
            .collect()
    }

    /// Whether a step runs for each element of a node with `flat`.
    pub(crate) fn is_below_flat(&self, step: usize) -> bool {
        self.flat.is_some_and(|flat| step > flat)
    }

    /// Whether a value that is used below a node with `flat` is made above it.
    pub(crate) fn is_above_flat(&self, value: usize) -> bool {
        crosses(self.flat, self.values[value].maker, usize::MAX)
    }

    /// Whether only a pipeline can run this graph: a call has one result, and this graph has
    /// none or many.
    pub(crate) fn needs_stream(&self) -> bool {
        self.flat.is_some()
            || self
                .steps()
                .iter()
                .any(|step| !step.traits.skips.is_empty())
    }

    /// The steps with a queue whose only predecessor is `step`.
    pub(crate) fn queues_after(&self, step: usize) -> impl Iterator<Item = usize> + '_ {
        (0..self.steps().len()).filter(move |&other| {
            self.steps()[other].options.queue.is_some() && self.nearest_needs(other) == [step]
        })
    }

    /// Whether a value is lent to some of its users.
    pub(crate) fn is_lent(&self, value: usize) -> bool {
        let value = &self.values[value];
        value.users.iter().any(|&user| Some(user) != value.mover)
    }
}

/// Whether a value goes from above `flat` to a user below.
fn crosses(flat: Option<usize>, maker: Maker, user: usize) -> bool {
    flat.is_some_and(|flat| {
        let above = match maker {
            Maker::Input(_) => true,
            Maker::Step(maker) => maker < flat,
        };
        above && user > flat
    })
}

fn is_flat(step: &Step) -> bool {
    step.options.flat.is_some()
}

fn make_values(parsed: &Parsed) -> Vec<Value> {
    let value = |maker| {
        move |name: &Ident| Value {
            name: name.clone(),
            maker,
            users: Vec::new(),
            mover: None,
        }
    };
    let inputs = parsed.inputs.iter().enumerate();
    let steps = parsed.steps.iter().enumerate();
    inputs
        .flat_map(|(i, input)| input.names.iter().map(value(Maker::Input(i))))
        .chain(steps.flat_map(|(i, step)| step.names.iter().map(value(Maker::Step(i)))))
        .collect()
}

/// The names of a step, in order.
fn names_of(step: &Step) -> Vec<(Ident, Position)> {
    let mut names = Vec::new();
    let mut collect = |name: &Ident, position: Position| {
        names.push((name.clone(), position));
        None
    };
    match &step.kind {
        Kind::Node(node) => {
            walk_expr(&mut node.expr.clone(), &mut collect);
            for value in step.options.values() {
                walk_expr(&mut value.clone(), &mut collect);
            }
            if let Some(when) = step.options.when() {
                walk_callee(&mut when.clone(), &mut collect);
            }
        }
        Kind::Fence(stmt) => walk_stmt(&mut stmt.clone(), &mut collect),
        Kind::Tail(expr) => walk_expr(&mut expr.clone(), &mut collect),
    }
    names
}

fn find_uses(parsed: &Parsed, values: &mut [Value]) -> Vec<Vec<Use>> {
    let mut all = Vec::new();
    // Inputs first, then the names of each node once the walk has passed it: a name is known
    // only below its definition.
    let mut known: HashMap<String, usize> = HashMap::new();
    let mut defined = 0;
    for (index, step) in parsed.steps.iter().enumerate() {
        while let Some(value) = values.get(defined) {
            match value.maker {
                Maker::Step(maker) if maker >= index => break,
                Maker::Step(_) | Maker::Input(_) => known.insert(value.name.to_string(), defined),
            };
            defined += 1;
        }
        let mut uses = Vec::new();
        for (name, position) in names_of(step) {
            let value = known.get(&name.to_string()).copied();
            if let Some(value) = value {
                let users = &mut values[value].users;
                if users.last() != Some(&index) {
                    users.push(index);
                }
            }
            uses.push(Use {
                name,
                position,
                value,
            });
        }
        all.push(uses);
    }
    all
}

/// Names that are similar to those of values. Other names may be constants or functions, and
/// are ignored. So are names in the position of a callee or of an argument of a method.
fn slips(parsed: &Parsed, values: &[Value], uses: &[Vec<Use>]) -> Vec<Slip> {
    let is_unknown = |used: &&Use| {
        let likely_value = matches!(
            used.position,
            Position::Argument | Position::Place | Position::Format
        );
        used.value.is_none()
            && likely_value
            && !is_upper(&used.name)
            && binder(parsed, &used.name).is_none()
    };
    let mut slips = Vec::new();
    for (step, uses) in uses.iter().enumerate() {
        for used in uses.iter().filter(is_unknown) {
            let above = values.iter().take_while(|value| match value.maker {
                Maker::Input(_) => true,
                Maker::Step(maker) => maker < step,
            });
            let known: Vec<String> = above.map(|value| value.name.unraw().to_string()).collect();
            let name = used.name.unraw().to_string();
            let near = nearest(&name, known.iter().map(String::as_str));
            if let Some(meant) = known.iter().position(|known| Some(known.as_str()) == near) {
                slips.push(Slip {
                    step,
                    name: used.name.clone(),
                    meant,
                });
            }
        }
    }
    slips
}

fn data_needs(parsed: &Parsed, values: &[Value], uses: &[Vec<Use>]) -> Vec<BTreeSet<usize>> {
    let mut needs = vec![BTreeSet::new(); parsed.steps.len()];
    for (step, uses) in uses.iter().enumerate() {
        for value in uses.iter().filter_map(|used| used.value) {
            if let Maker::Step(maker) = values[value].maker {
                needs[step].insert(maker);
            }
        }
    }
    needs
}

fn binder(parsed: &Parsed, name: &Ident) -> Option<usize> {
    parsed
        .steps
        .iter()
        .position(|step| step.names.contains(name))
}

fn add_after(parsed: &Parsed, needs: &mut [BTreeSet<usize>]) {
    for (index, step) in parsed.steps.iter().enumerate() {
        needs[index].extend(
            step.options
                .after
                .iter()
                .filter_map(|name| binder(parsed, name)),
        );
    }
}

/// A fence or the tail waits for all steps above, and all steps below wait for it. The same
/// holds for a node with `flat`. Edges between a step and the nearest fences are enough.
fn add_fences(parsed: &Parsed, needs: &mut [BTreeSet<usize>]) {
    let mut above: Vec<usize> = Vec::new();
    let mut last_fence = None;
    for (index, step) in parsed.steps.iter().enumerate() {
        needs[index].extend(last_fence);
        if matches!(step.kind, Kind::Node(_)) && !is_flat(step) {
            above.push(index);
        } else {
            needs[index].extend(above.drain(..));
            last_fence = Some(index);
        }
    }
}

/// The users of an exclusive input wait for each other, in the order of the source.
fn add_exclusive(parsed: &Parsed, values: &[Value], needs: &mut [BTreeSet<usize>]) {
    for value in values {
        let Maker::Input(input) = value.maker else {
            continue;
        };
        if parsed.inputs[input]
            .shared
            .as_ref()
            .is_some_and(|shared| shared.exclusive)
        {
            for pair in value.users.windows(2) {
                needs[pair[1]].insert(pair[0]);
            }
        }
    }
}

/// A topological order that is close to the source, and the steps on a cycle.
fn sort(needs: &[BTreeSet<usize>]) -> (Vec<usize>, Vec<usize>) {
    let mut order = Vec::new();
    let mut done = vec![false; needs.len()];
    let mut missing: Vec<usize> = needs.iter().map(BTreeSet::len).collect();
    let mut next: Vec<Vec<usize>> = vec![Vec::new(); needs.len()];
    for (step, needs) in needs.iter().enumerate() {
        for &need in needs {
            next[need].push(step);
        }
    }
    let mut ready: BTreeSet<usize> = (0..needs.len())
        .filter(|&step| missing[step] == 0)
        .collect();
    while let Some(step) = ready.pop_first() {
        done[step] = true;
        order.push(step);
        for &after in &next[step] {
            missing[after] -= 1;
            if missing[after] == 0 {
                ready.insert(after);
            }
        }
    }
    let cyclic = (0..needs.len()).filter(|&step| !done[step]).collect();
    (order, cyclic)
}

fn ancestors(needs: &[BTreeSet<usize>], order: &[usize]) -> Vec<Vec<bool>> {
    let mut all = vec![vec![false; needs.len()]; needs.len()];
    for &step in order {
        let mut own = vec![false; needs.len()];
        for &need in &needs[step] {
            own[need] = true;
            for (own, &inherited) in own.iter_mut().zip(&all[need]) {
                *own |= inherited;
            }
        }
        all[step] = own;
    }
    all
}

fn mover(parsed: &Parsed, value: &Value, ancestors: &[Vec<bool>]) -> Option<usize> {
    if let Maker::Input(input) = value.maker {
        if parsed.inputs[input].shared.is_some() {
            return None;
        }
    }
    let users = &value.users;
    users.iter().copied().find(|&last| {
        users
            .iter()
            .all(|&user| user == last || ancestors[last][user])
    })
}
