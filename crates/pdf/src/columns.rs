//! Columns of a table: how wide they are, and which of them stand together where a table is wider than a page.
//!
//! Must not know: pages, lines, what stands in cells.

/// A column, pt.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Width {
    /// What it takes without a line break.
    pub(crate) natural: f32,
    /// What it can make do with.
    pub(crate) least: f32,
    /// In it, for marks behind numbers.
    pub(crate) marks: f32,
}

/// A column among others.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Place {
    pub(crate) width: Width,
    /// Names the row: it is repeated in every panel.
    pub(crate) key: bool,
    pub(crate) group: Option<String>,
}

/// The columns of each panel, from the left. Each panel has the columns that name the row, and as many others as fit;
/// columns of one group stay together where they can.
pub(crate) fn panels(columns: &[Place], room: f32) -> Vec<Vec<usize>> {
    let least: f32 = columns.iter().map(|c| c.width.least).sum();
    if least <= room {
        return vec![(0..columns.len()).collect()];
    }
    let keys: Vec<usize> = (0..columns.len()).filter(|i| columns[*i].key).collect();
    let width = |part: &[usize]| part.iter().map(|i| columns[*i].width.least).sum::<f32>();
    let room = room - width(&keys);
    let mut parts: Vec<Vec<usize>> = vec![];
    for (i, column) in columns.iter().enumerate().filter(|(_, c)| !c.key) {
        match parts.last_mut() {
            Some(part) if column.group.is_some() && columns[part[0]].group == column.group => {
                part.push(i);
            }
            _ => parts.push(vec![i]),
        }
    }
    let parts: Vec<Vec<usize>> = parts
        .into_iter()
        .flat_map(|part| match width(&part) > room {
            true => part.into_iter().map(|i| vec![i]).collect(),
            false => vec![part],
        })
        .collect();
    let filled = |room: f32| {
        let mut panels: Vec<Vec<usize>> = vec![];
        let mut used = 0.0;
        for part in &parts {
            if panels.is_empty() || used + width(part) > room {
                panels.push(vec![]);
                used = 0.0;
            }
            panels.last_mut().expect("just pushed").extend(part);
            used += width(part);
        }
        panels
    };
    // panels of about the same width look better than full ones and a rest
    let full = filled(room);
    let all: f32 = parts.iter().map(|part| width(part)).sum();
    let widest = parts.iter().map(|part| width(part)).fold(0.0, f32::max);
    let even = filled(room.min(all / full.len().max(1) as f32 + widest / 2.0));
    let panels = if even.len() == full.len() { even } else { full };
    if panels.is_empty() {
        return vec![keys];
    }
    let whole = |panel: Vec<usize>| {
        let mut whole = [keys.clone(), panel].concat();
        whole.sort_unstable();
        whole
    };
    panels.into_iter().map(whole).collect()
}

/// Widths of the columns of a panel. Columns of words give way, the widest first, until it fits.
pub(crate) fn fitted(widths: &[Width], room: f32) -> Vec<f32> {
    let capped = |cap: f32| widths.iter().map(move |w| w.least.max(w.natural.min(cap)));
    let (mut low, mut high) = (0.0, room);
    if capped(high).sum::<f32>() <= room {
        low = high;
    } else {
        for _ in 0..24 {
            let middle = f32::midpoint(low, high);
            if capped(middle).sum::<f32>() > room {
                high = middle;
            } else {
                low = middle;
            }
        }
    }
    capped(low).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(least: f32, key: bool, group: Option<&str>) -> Place {
        Place {
            width: Width {
                natural: least * 2.0,
                least,
                marks: 0.0,
            },
            key,
            group: group.map(str::to_owned),
        }
    }

    #[test]
    fn a_table_that_fits_is_one_panel() {
        let columns = [column(10.0, true, None), column(20.0, false, None)];
        assert_eq!(panels(&columns, 30.0), [[0, 1]]);
    }

    #[test]
    fn panels_repeat_what_names_the_row_and_keep_groups_together() {
        let columns = [
            column(10.0, true, None),
            column(20.0, false, Some("a")),
            column(20.0, false, Some("a")),
            column(20.0, false, Some("b")),
            column(20.0, false, Some("b")),
        ];
        assert_eq!(panels(&columns, 80.0), [[0, 1, 2], [0, 3, 4]]);
        // a group that no panel has room for is cut
        assert_eq!(panels(&columns, 40.0).len(), 4);
        // and a column that none has room for stands alone
        assert_eq!(panels(&columns, 5.0).len(), 4);
        assert_eq!(panels(&columns[..1], 5.0), [[0]]);
    }

    #[test]
    fn the_widest_gives_way_first() {
        let width = |least, natural| Width {
            natural,
            least,
            marks: 0.0,
        };
        let widths = [width(10.0, 10.0), width(10.0, 30.0), width(10.0, 200.0)];
        assert_eq!(fitted(&widths, 500.0), [10.0, 30.0, 200.0]);
        let tight = fitted(&widths, 100.0);
        assert_eq!(tight[..2], [10.0, 30.0]);
        assert!((tight[2] - 60.0).abs() < 0.1);
        assert_eq!(fitted(&widths, 20.0), [10.0; 3]);
    }
}
