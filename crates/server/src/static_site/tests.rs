//! Sites of made-up stores.

use super::{Written, import, write};
use crate::pages::ROUTES;
use crate::tests::fuzz::runs;
use gritstone_model::{Id, TrialSide};
use gritstone_store::Store;
use percent_encoding::percent_decode_str;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;
use tempfile::TempDir;

/// A folder with a store of this many runs, in which a benchmark becomes slower.
fn stored(count: usize) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let mut store = Store::open(&path).unwrap();
    for run in runs().iter().take(count) {
        store.import(run).unwrap();
    }
    (folder, path)
}

/// All files below a directory, with their bytes and the time of their last change.
fn files(root: &Path) -> BTreeMap<String, (Vec<u8>, SystemTime)> {
    let (mut found, mut open) = (BTreeMap::new(), vec![root.to_owned()]);
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
                continue;
            }
            let name = path.strip_prefix(root).unwrap().to_str().unwrap();
            let changed = fs::metadata(&path).unwrap().modified().unwrap();
            found.insert(name.to_owned(), (fs::read(&path).unwrap(), changed));
        }
    }
    found
}

fn bytes(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let all = files(root).into_iter();
    all.map(|(name, (bytes, _))| (name, bytes)).collect()
}

/// The file that a link of another one leads to.
fn target(from: &str, link: &str) -> String {
    let link = percent_decode_str(link).decode_utf8().unwrap();
    let mut parts: Vec<String> = from.split('/').map(str::to_owned).collect();
    parts.pop();
    for part in Path::new(&*link).components() {
        match part {
            Component::ParentDir => drop(parts.pop().expect("above the site")),
            Component::Normal(name) => parts.push(name.to_str().unwrap().to_owned()),
            other => panic!("{from}: {link} has {other:?}"),
        }
    }
    parts.join("/")
}

/// The pages of a site, all of whose links lead to a file, and each of which a link leads to.
fn linked(site: &Path) -> BTreeMap<String, String> {
    let pages: BTreeMap<String, String> = bytes(site)
        .into_iter()
        .filter(|(name, _)| name.ends_with(".html"))
        .map(|(name, bytes)| (name, String::from_utf8(bytes).unwrap()))
        .collect();
    let mut reached = BTreeSet::from(["index.html".to_owned()]);
    for (name, page) in &pages {
        assert!(!page.contains("<form") && !page.contains("data-events"), "{name}");
        for link in page.split("href=\"").skip(1) {
            let link = &link[..link.find('"').unwrap()];
            if link.starts_with("https://") {
                continue;
            }
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let to = match file {
                "" => name.clone(),
                file => target(name, file),
            };
            let found = pages.get(&to).unwrap_or_else(|| panic!("{name}: {link}"));
            assert!(
                anchor.is_empty() || found.contains(&format!("id=\"{anchor}\"")),
                "{name}: {link}"
            );
            reached.insert(to);
        }
    }
    let alone: Vec<&String> = pages.keys().filter(|name| !reached.contains(*name)).collect();
    assert_eq!(alone, [] as [&String; 0]);
    pages
}

#[test]
fn links_lead_to_files() {
    let (folder, store) = stored(23);
    let site = folder.path().join("site");
    let written = write(&store, &site).unwrap();
    let pages = linked(&site);
    assert_eq!(pages.len(), written.pages);
    for kind in ["runs/", "compare/", "systems/", "changes/", "benchmarks/"] {
        assert!(pages.keys().any(|name| name.starts_with(kind)), "{kind}");
    }
}

#[test]
fn trial_benchmarks_have_no_page() {
    let folder = tempfile::tempdir().unwrap();
    let [store, site] = ["store.db", "site"].map(|name| folder.path().join(name));
    let mut all = Store::open(&store).unwrap();
    for side in ["a", "b"] {
        let mut run = runs()[0].clone();
        run.info.id = format!("19700102-000000-0000000{side}");
        run.info.label = None;
        let command = Id::parse("command").unwrap();
        run.benchmarks.truncate(1);
        run.benchmarks[0].id = command.clone();
        let measured = run.launches[0].id.clone();
        run.launches.retain(|launch| launch.id == measured);
        for launch in &mut run.launches {
            launch.id = command.clone();
        }
        run.info.settings.trial = Some(TrialSide {
            trial: "t".to_owned(),
            side: side.to_owned(),
            margin: 0.01,
            ..TrialSide::default()
        });
        all.import(&run).unwrap();
    }
    write(&store, &site).unwrap();
    let pages = linked(&site);
    assert!(!pages.keys().any(|name| name.starts_with("benchmarks/")));
}

#[test]
fn nameless_systems_have_no_page() {
    let (folder, path) = stored(0);
    let mut store = Store::open(&path).unwrap();
    for (hour, machine) in [(1, ""), (2, "a/b")] {
        let mut run = runs()[0].clone();
        run.info.id = format!("19700102-0{hour}0000-00000000");
        machine.clone_into(&mut run.info.machine.id);
        store.import(&run).unwrap();
    }
    let site = folder.path().join("site");
    write(&path, &site).unwrap();
    let systems: Vec<String> =
        bytes(&site).into_keys().filter(|name| name.starts_with("systems/")).collect();
    assert_eq!(systems, ["systems/a~2Fb.html"]);
}

#[test]
fn galleries_compare_systems() {
    let folder = tempfile::tempdir().unwrap();
    let [store, site] = ["store.db", "site"].map(|name| folder.path().join(name));
    let mut all = Store::open(&store).unwrap();
    // four systems, the first the fastest
    for system in 0..4_u8 {
        let mut run = runs()[0].clone();
        run.info.id = format!("19700102-0{system}0000-0000000{system}");
        run.info.settings.suite = Some("standard".to_owned());
        run.info.machine.id = format!("system-{system}");
        run.info.machine.name = format!("System {system}");
        all.import(&run).unwrap();
    }
    write(&store, &site).unwrap();
    let pages = linked(&site);
    let id = |system: u8| format!("19700102-0{system}0000-0000000{system}");
    let pairs: BTreeSet<String> = [(0, 1), (0, 2), (0, 3), (1, 2), (2, 3)]
        .map(|(base, other)| format!("compare/{}/{}.html", id(base), id(other)))
        .into();
    let compared = pages.keys().filter(|name| name.starts_with("compare/"));
    assert_eq!(compared.cloned().collect::<BTreeSet<String>>(), pairs);
    let links = |page: &str| {
        let links = pages[page].split("href=\"").skip(1);
        let to = links.map(|link| target(page, &link[..link.find('"').unwrap()]));
        to.filter(|to| to.starts_with("compare/")).collect::<BTreeSet<_>>()
    };
    assert_eq!(links("scores.html"), pairs);
    let of_third = pairs.iter().filter(|pair| pair.contains(&id(2))).cloned();
    assert_eq!(links("systems/system-2.html"), of_third.collect());
}

#[test]
fn sites_change_with_their_store() {
    let (folder, path) = stored(22);
    let [site, other] = ["site", "other"].map(|name| folder.path().join(name));
    let first = write(&path, &site).unwrap();
    assert_eq!((first.rendered, first.written), (first.pages, first.pages));
    let before = files(&site);
    let nothing = Written { pages: first.pages, ..Written::default() };
    assert_eq!(write(&path, &site).unwrap(), nothing);
    assert_eq!(files(&site), before);

    let all = runs();
    let mut store = Store::open(&path).unwrap();
    store.import(&all[22]).unwrap();
    let more = write(&path, &site).unwrap();
    assert_eq!(more.pages, first.pages + 2);
    let after = files(&site);
    let changed: BTreeSet<&str> = after
        .iter()
        .filter(|(name, file)| before.get(*name) != Some(file))
        .map(|(name, _)| name.as_str())
        .collect();
    let titled = ROUTES.iter().filter(|route| route.title.is_some());
    let lists: Vec<String> = titled.map(|route| format!("{}.html", &route.path[1..])).collect();
    let is_list = |name: &str| name == "index.html" || lists.iter().any(|list| list == name);
    let id = &all[22].info.id;
    for name in &changed {
        let of_run = all[22]
            .benchmarks
            .iter()
            .any(|benchmark| *name == format!("benchmarks/{}.html", benchmark.id));
        let is_list = is_list(name) || name.starts_with('.') || name.starts_with("systems/");
        assert!(
            of_run || is_list || name.starts_with("changes/") || name.contains(id.as_str()),
            "{name}"
        );
    }
    assert!(changed.contains(&*format!("runs/{id}.html")) && changed.contains("index.html"));

    // a label and a removal are changes too, and whatever came before, the site is that of the store
    store.label(&all[19].info.id, "named").unwrap();
    store.remove(&all[21].info.id).unwrap();
    let less = write(&path, &site).unwrap();
    assert!(less.removed > 0 && less.rendered < less.pages / 2, "{less:?}");
    write(&path, &other).unwrap();
    assert!(bytes(&site) == bytes(&other));
    assert!(!site.join("compare").join(&all[21].info.id).exists());
}

#[test]
fn bundles_make_the_same_site() {
    let (folder, store) = stored(3);
    let [site, other, bundles] = ["site", "other", "bundles"].map(|name| folder.path().join(name));
    write(&store, &site).unwrap();
    fs::create_dir_all(bundles.join("deep")).unwrap();
    assert!(import(&bundles, &folder.path().join("none.db")).is_err());
    for (index, run) in runs().iter().take(3).enumerate() {
        let text = gritstone_exchange::write_bundle(run);
        let below = if index == 1 { "deep" } else { "." };
        fs::write(bundles.join(below).join(format!("{index}.jsonl")), text).unwrap();
    }
    fs::write(bundles.join("README.md"), "what they are").unwrap();
    let from = folder.path().join("from.db");
    import(&bundles, &from).unwrap();
    write(&from, &other).unwrap();
    let pages = |root: &Path| {
        let mut all = bytes(root);
        all.retain(|name, _| name.ends_with(".html"));
        all
    };
    assert!(pages(&site) == pages(&other));
}

#[test]
fn foreign_directories_are_refused() {
    let (folder, store) = stored(0);
    let site = folder.path().join("site");
    fs::create_dir(&site).unwrap();
    let foreign = site.join("index.html");
    fs::write(&foreign, "somebody's").unwrap();
    let refused = write(&store, &site).unwrap_err().to_string();
    assert!(refused.contains("empty directory"), "{refused}");
    assert_eq!(fs::read_to_string(&foreign).unwrap(), "somebody's");
    // a record that names files elsewhere removes none
    let evil = folder.path().join("kept");
    fs::write(&evil, "").unwrap();
    let entry = r#"{"inputs": "", "content": ""}"#;
    let record = format!(r#"{{"schema": "gritstone/site/1", "files": {{"../kept": {entry}}}}}"#);
    fs::write(site.join(".gritstone-site.json"), record).unwrap();
    assert!(write(&store, &site).is_err());
    assert!(evil.exists());
}
