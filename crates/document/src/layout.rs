//! Column layout: widths, and panels of a table wider than its medium.
//!
//! Widths are integers in the unit of the medium: characters of a terminal, fractions of a point on paper.

use crate::tree::Column;

/// Width of a column, with the gap to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Width {
    pub natural: usize,
    /// Minimum width, unless a panel is too narrow for it.
    pub min: usize,
}

/// Adjacent columns of one group, or single columns.
pub(crate) fn groups<'p>(
    columns: &[Column],
    panel: &'p [usize],
) -> impl Iterator<Item = &'p [usize]> {
    panel.chunk_by(|&a, &b| columns[a].group.is_some() && columns[a].group == columns[b].group)
}

/// Columns with their widths.
pub struct Layout<'a> {
    columns: &'a [Column],
    widths: Vec<Width>,
    /// Width of a group's name.
    name: &'a dyn Fn(&str) -> usize,
}

impl<'a> Layout<'a> {
    /// Widens columns where a group's name is wider than they are.
    pub fn new(columns: &'a [Column], widths: Vec<Width>, name: &'a dyn Fn(&str) -> usize) -> Self {
        let mut layout = Self { columns, widths, name };
        let all: Vec<usize> = (0..columns.len()).collect();
        layout.widths = layout.widened(&all);
        layout
    }

    /// Minimum width of the whole table.
    pub fn min_width(&self) -> usize {
        self.widths.iter().map(|w| w.min).sum()
    }

    /// Columns with widths for each panel. Every panel has the key columns and as many others as fit; columns of one
    /// group stay together if possible. A column that does not fit alone shrinks to the floor.
    pub fn panels(&self, room: usize, floor: usize) -> Vec<Vec<(usize, usize)>> {
        let (keys, others): (Vec<usize>, Vec<usize>) =
            (0..self.columns.len()).partition(|&i| self.columns[i].key);
        let min = |panel: &[usize]| panel.iter().map(|&i| self.widths[i].min).sum::<usize>();
        let fits = |panel: &[usize]| min(panel) <= room;
        let mut panels = vec![keys.clone()];
        for group in groups(self.columns, &others) {
            // a group wider than a panel is split into columns
            let whole = fits(&[&keys, group].concat());
            for piece in group.chunks(if whole { group.len() } else { 1 }) {
                let last = panels.last_mut().expect("panels begin with one");
                let with = [last.as_slice(), piece].concat();
                if last.len() == keys.len() || fits(&with) {
                    *last = with;
                } else {
                    panels.push([&keys, piece].concat());
                }
            }
        }
        let placed = |panel: Vec<usize>| {
            let mut widths = self.widened(&panel);
            for (width, &i) in widths.iter_mut().zip(&panel) {
                // the name of a split group may need less
                width.min = self.widths[i].min;
            }
            let widths = fitted(&widths, room, floor);
            panel.into_iter().zip(widths).collect()
        };
        panels.into_iter().map(placed).collect()
    }

    /// Widths of the columns of a panel, with room for the names of their groups.
    fn widened(&self, panel: &[usize]) -> Vec<Width> {
        let mut widened = vec![];
        for group in groups(self.columns, panel) {
            let min: usize = group.iter().map(|&i| self.widths[i].min).sum();
            let wanted = self.columns[group[0]].group.as_deref().map_or(0, self.name);
            let more = wanted.saturating_sub(min).div_ceil(group.len());
            widened.extend(group.iter().map(|&i| Width {
                natural: self.widths[i].natural.max(self.widths[i].min + more),
                min: self.widths[i].min + more,
            }));
        }
        widened
    }
}

/// Shrinks the widest columns first, to their minimum; below it only if necessary.
fn fitted(widths: &[Width], room: usize, floor: usize) -> Vec<usize> {
    let tight = widths.iter().map(|w| w.min).sum::<usize>() > room;
    let bounds = |w: &Width| match tight {
        true => (w.min, floor),
        false => (w.natural, w.min),
    };
    let capped = |cap| {
        let limits = widths.iter().map(bounds);
        limits.map(move |(natural, min)| natural.min(cap).max(min))
    };
    let max = widths.iter().map(|w| w.natural).max().unwrap_or(0);
    let (mut low, mut high) = (0, max + 1);
    while high - low > 1 {
        let middle = usize::midpoint(low, high);
        match capped(middle).sum::<usize>() <= room {
            true => low = middle,
            false => high = middle,
        }
    }
    let mut rest = room.saturating_sub(capped(low).sum());
    let one_more = capped(low).zip(capped(low + 1)).map(|(width, next)| {
        let more = (next - width).min(rest);
        rest -= more;
        width + more
    });
    one_more.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Style;

    fn column(key: bool, group: Option<&str>) -> Column {
        Column { group: group.map(str::to_owned), key, ..Column::new("", Style::Text) }
    }

    fn width(min: usize, natural: usize) -> Width {
        Width { natural, min }
    }

    fn indices(columns: &[Column], widths: &[Width], room: usize) -> Vec<Vec<usize>> {
        let panels = Layout::new(columns, widths.to_vec(), &|_| 0).panels(room, 1);
        let panel_indices =
            |panel: Vec<(usize, usize)>| panel.into_iter().map(|(i, _)| i).collect();
        panels.into_iter().map(panel_indices).collect()
    }

    #[test]
    fn panels_repeat_keys_keep_groups() {
        let columns = [None, Some("a"), Some("a"), Some("b"), Some("b")]
            .map(|group| column(group.is_none(), group));
        let widths = [10, 20, 20, 20, 20].map(|min| width(min, 2 * min));
        assert_eq!(indices(&columns, &widths, 90), [[0, 1, 2, 3, 4]]);
        assert_eq!(indices(&columns, &widths, 80), [[0, 1, 2], [0, 3, 4]]);
        // a group wider than any panel is split
        assert_eq!(indices(&columns, &widths, 40).len(), 4);
        // a column wider than any panel gets a panel of its own
        assert_eq!(indices(&columns, &widths, 5).len(), 4);
        assert_eq!(indices(&columns[..1], &widths[..1], 5), [[0]]);
    }

    #[test]
    fn the_widest_gives_way_first() {
        let widths = [width(10, 10), width(10, 30), width(10, 200)];
        assert_eq!(fitted(&widths, 500, 1), [10, 30, 200]);
        assert_eq!(fitted(&widths, 100, 1), [10, 30, 60]);
        assert_eq!(fitted(&widths, 41, 1), [10, 16, 15]);
        assert_eq!(fitted(&widths, 30, 1), [10; 3]);
        assert_eq!(fitted(&widths, 20, 1), [7, 7, 6]);
    }

    #[test]
    fn columns_fit_their_group_name() {
        let columns = [Some("a"), Some("a"), None].map(|group| column(false, group));
        let widths = [width(2, 9), width(2, 2), width(2, 2)];
        let layout = Layout::new(&columns, widths.to_vec(), &|_| 11);
        assert_eq!(layout.widths, [width(6, 9), width(6, 6), width(2, 2)]);
        // each part of a split group has the whole name
        let cut = [vec![(0, 11)], vec![(1, 9), (2, 2)]];
        assert_eq!(layout.panels(11, 1), cut);
    }
}
