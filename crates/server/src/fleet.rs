//! The page of the systems as a fleet.

use crate::http::{Answer, Asked, Form, Media, Status};
use crate::pages::{Answered, Pages, Refused, plain, said};
use gritstone_document::About;
use gritstone_document::html::{self, Frame};
use gritstone_model::{FleetNodeState, ListedSystem};
use gritstone_store::Store;
use std::rc::Rc;

impl Pages {
    /// The page of it.
    pub(super) fn fleet(&self, asked: &Asked, store: Option<&Rc<Store>>) -> Answered {
        let (digest, systems): (_, Vec<ListedSystem>) = self.known(store)?;
        let digest = digest.ok_or(Refused::Busy)?;
        let view = digest.fleet.clone();
        let progress = match asked.form {
            Form::Json => None,
            _ => (self.follow_fleet)(&self.context, store.map(Rc::as_ref))?,
        };
        let page = || {
            let document = gritstone_report::systems_compared(&view, &systems, progress.as_ref());
            let live = progress.as_ref().filter(|of| !of.ended).map(|of| {
                let path = format!("{}/events", html::path(&About::Fleet));
                [gritstone_report::fleet_progress(of), path]
            });
            let frame = Frame {
                live,
                ..Frame::default()
            };
            (document, frame)
        };
        Ok(said(asked, &view, page)?)
    }

    /// How far the newest fleet run has come.
    pub(super) fn follow_fleet(&self, store: Option<&Rc<Store>>) -> Answered {
        let progress = (self.follow_fleet)(&self.context, store.map(Rc::as_ref))?;
        let value = progress.as_ref().map(|of| {
            let count = |state| of.nodes.iter().filter(|node| node.state == state).count();
            serde_json::json!({
                "fleet": of.fleet,
                "of": of.of,
                "done": count(FleetNodeState::Done),
                "measuring": count(FleetNodeState::Measuring),
                "failed": count(FleetNodeState::Failed),
                "said": gritstone_report::fleet_progress(of),
            })
        });
        let text = gritstone_model::escape_json(value.unwrap_or_default().to_string());
        let status = match progress {
            Some(of) if !of.ended => Status::Found,
            _ => Status::Last,
        };
        Ok(Answer {
            status,
            ..plain(Media::Json, text)
        })
    }
}
