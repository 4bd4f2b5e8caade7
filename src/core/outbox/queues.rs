//! The queues of an outbox, each in the order of its ids.

use std::collections::VecDeque;

/// Entries in their order: by id, with their slot. They come at the end and leave from the front, but for a few.
#[derive(Clone, Debug, Default)]
struct Line(VecDeque<(u64, u32)>);

impl Line {
    fn find(&self, id: u64) -> Result<usize, usize> {
        self.0.binary_search_by_key(&id, |(id, _)| *id)
    }

    fn first(&self) -> Option<(u64, u32)> {
        self.0.front().copied()
    }

    fn insert(&mut self, id: u64, slot: u32) {
        if let Err(place) = self.find(id) {
            self.0.insert(place, (id, slot));
        }
    }

    fn remove(&mut self, id: u64) -> Option<u32> {
        let place = self.find(id).ok()?;
        self.0.remove(place).map(|(_, slot)| slot)
    }
}

#[derive(Clone, Debug, Default)]
struct Queue {
    name: Box<str>,
    live: Line,
    dead: Line,
    /// How many of it are sent or written.
    active: u32,
    /// It stands among those that are due.
    listed: bool,
}

/// All queues by their number, which is free again when the last entry has left.
#[derive(Clone, Debug)]
pub struct Queues {
    all: Vec<Queue>,
    free: Vec<u32>,
    /// In the order of their names.
    named: Vec<u32>,
    /// In whose heads something may have changed, in turn.
    due: VecDeque<u32>,
}

impl Queues {
    pub const fn new() -> Self {
        Self { all: Vec::new(), free: Vec::new(), named: Vec::new(), due: VecDeque::new() }
    }

    fn get(&mut self, queue: u32) -> Option<&mut Queue> {
        self.all.get_mut(queue as usize)
    }

    /// Where the queue of that name is among all names, or would be.
    fn find(&self, name: &str) -> Result<usize, usize> {
        self.named
            .binary_search_by(|&queue| self.all.get(queue as usize).map_or("", |queue| &queue.name).cmp(name))
    }

    /// The queue of that name.
    pub fn enter(&mut self, name: &str) -> u32 {
        let place = match self.find(name) {
            Ok(place) => return self.named.get(place).copied().unwrap_or_default(),
            Err(place) => place,
        };
        let queue = self.free.pop().unwrap_or_else(|| {
            self.all.push(Queue::default());
            self.all.len() as u32 - 1
        });
        if let Some(new) = self.get(queue) {
            new.name = name.into();
        }
        self.named.insert(place, queue);
        queue
    }

    /// An entry takes its place.
    pub fn put(&mut self, queue: u32, id: u64, slot: u32, rejected: bool) {
        if let Some(queue) = self.get(queue) {
            if rejected { &mut queue.dead } else { &mut queue.live }.insert(id, slot);
        }
        self.due(queue);
    }

    /// It is a dead letter now, or no more.
    pub fn mark(&mut self, queue: u32, id: u64, rejected: bool) {
        let Some(queue) = self.get(queue) else { return };
        let (from, to) =
            if rejected { (&mut queue.live, &mut queue.dead) } else { (&mut queue.dead, &mut queue.live) };
        if let Some(slot) = from.remove(id) {
            to.insert(id, slot);
        }
    }

    /// One of it is begun, or over.
    pub fn activate(&mut self, queue: u32, active: bool) {
        if let Some(queue) = self.get(queue) {
            queue.active = if active { queue.active + 1 } else { queue.active.saturating_sub(1) };
        }
    }

    /// An entry leaves, and with the last one the queue.
    pub fn leave(&mut self, queue: u32, id: u64) {
        let Some(left) = self.get(queue) else { return };
        left.live.remove(id);
        left.dead.remove(id);
        if !left.live.0.is_empty() || !left.dead.0.is_empty() {
            return self.due(queue);
        }
        let name = left.name.clone();
        if let Ok(place) = self.find(&name) {
            self.named.remove(place);
        }
        self.free.push(queue);
    }

    /// Its head has to be looked at.
    pub fn due(&mut self, queue: u32) {
        if let Some(listed) = self.get(queue)
            && !listed.listed
        {
            listed.listed = true;
            self.due.push_back(queue);
        }
    }

    pub fn is_any_due(&self) -> bool {
        !self.due.is_empty()
    }

    /// The head of the next queue that is due and has one. With `stop`, a dead letter before it takes its place from it.
    pub fn next(&mut self, stop: bool) -> Option<u32> {
        while let Some(queue) = self.due.pop_front() {
            let Some(queue) = self.get(queue) else { continue };
            queue.listed = false;
            if queue.active > 0 {
                continue;
            }
            let Some((id, slot)) = queue.live.first() else { continue };
            let dead = queue.dead.first().is_some_and(|(dead, _)| dead < id);
            if !(stop && dead) {
                return Some(slot);
            }
        }
        None
    }
}
