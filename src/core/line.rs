//! Who waits for a circuit, in the order in which they came: a chain through the places of all calls, so that one of
//! a hundred thousand leaves as fast as one of two.

/// For each place who is before it and who after it in its line.
#[derive(Clone, Debug, Default)]
pub struct Links(Vec<(Option<u32>, Option<u32>)>);

impl Links {
    /// There is one place more.
    pub fn grow(&mut self) {
        self.0.push((None, None));
    }

    fn before(&mut self, place: Option<u32>) -> Option<&mut Option<u32>> {
        self.0.get_mut(place? as usize).map(|link| &mut link.0)
    }

    fn after(&mut self, place: Option<u32>) -> Option<&mut Option<u32>> {
        self.0.get_mut(place? as usize).map(|link| &mut link.1)
    }
}

/// One line. A place is in one at most.
#[derive(Clone, Debug, Default)]
pub struct Line {
    first: Option<u32>,
    last: Option<u32>,
}

impl Line {
    /// Whose turn is next.
    pub const fn first(&self) -> Option<u32> {
        self.first
    }

    /// Puts one that is in no line at the end.
    pub fn push(&mut self, place: u32, links: &mut Links) {
        let last = self.last.replace(place);
        *links.after(last).unwrap_or(&mut self.first) = Some(place);
        if let Some(link) = links.0.get_mut(place as usize) {
            *link = (last, None);
        }
    }

    /// Takes out one that is in this line.
    pub fn remove(&mut self, place: u32, links: &mut Links) {
        if let Some((before, after)) = links.0.get_mut(place as usize).map(core::mem::take) {
            *links.after(before).unwrap_or(&mut self.first) = after;
            *links.before(after).unwrap_or(&mut self.last) = before;
        }
    }

    /// All of them, in order.
    pub fn iter(&self, links: &Links) -> impl Iterator<Item = u32> {
        core::iter::successors(self.first, |&place| links.0.get(place as usize)?.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::rng::Rng;

    #[test]
    fn it_agrees_with_a_list_whoever_comes_and_goes() {
        let mut rng = Rng::new(5);
        let mut links = Links::default();
        (0..40).for_each(|_| links.grow());
        let mut lines = [const { (Line { first: None, last: None }, Vec::new()) }; 3];
        for _ in 0..50_000 {
            let place = (rng.bits() % 40) as u32;
            match lines.iter_mut().find(|(_, list)| list.contains(&place)) {
                Some((line, list)) => {
                    list.retain(|&other| other != place);
                    line.remove(place, &mut links);
                }
                None => {
                    let (line, list) = &mut lines[(rng.bits() % 3) as usize];
                    list.push(place);
                    line.push(place, &mut links);
                }
            }
            for (line, list) in &lines {
                assert_eq!(line.first(), list.first().copied());
                assert!(line.iter(&links).eq(list.iter().copied()));
            }
            // Who has been in a line and who has not are alike.
            let waiting = |place: &u32| lines.iter().any(|(_, list)| list.contains(place));
            let free = (0..40).filter(|place| !waiting(place));
            assert!(free.map(|place| links.0[place as usize]).all(|link| link == (None, None)));
        }
    }
}
