//! What holds for every picture and every value.

use freeaugment_base::random::{Purpose, Stream};
use freeaugment_baseline::Operation::{
    Brightness, Color, Contrast, Cutout, Flip, Grayscale, Hue, Identity, Invert, Posterize, Rotate,
    Sharpness, ShearX, ShearY, Solarize, SolarizeAdd, TranslateX, TranslateY,
};
use freeaugment_baseline::{Action, Baseline, Frame, Moment, Operation};
use freeaugment_data::Picture;
use proptest::prelude::*;

fn picture() -> impl Strategy<Value = Picture> {
    (1..40_usize, 1..40_usize, prop_oneof![Just(1_usize), Just(3)]).prop_flat_map(
        |(height, width, channels)| {
            // Few values as well as many: histograms with one entry or two are special.
            let values = prop_oneof![0..=255_u8, 100..102_u8, Just(0), Just(255)];
            prop::collection::vec(values, height * width * channels).prop_map(move |pixels| Picture {
                height,
                width,
                channels,
                pixels,
            })
        },
    )
}

fn operation() -> impl Strategy<Value = Operation> {
    prop::sample::select(&Operation::ALL[..])
}

fn value() -> impl Strategy<Value = f64> {
    prop_oneof![
        -2.0..2.0,
        -300.0..300.0,
        prop::num::f64::ANY,
        prop::sample::select(&[0.0, 1.0, -1.0, 90.0, 180.0, 1e300, -1e300, f64::INFINITY, f64::NAN][..]),
    ]
}

fn applied(action: Action, picture: &Picture) -> Picture {
    let mut picture = picture.clone();
    action.apply(&mut picture);
    picture
}

proptest! {
    #[test]
    fn any_value_keeps_the_size(
        picture in picture(),
        operation in operation(),
        value in value(),
        centre in [value(), value()],
    ) {
        let result = applied(Action { operation, value, centre }, &picture);
        prop_assert_eq!(
            (result.height, result.width, result.channels, result.pixels.len()),
            (picture.height, picture.width, picture.channels, picture.pixels.len())
        );
    }

    #[test]
    fn planes_become_what_pixels_become(
        picture in picture(),
        steps in prop::collection::vec((operation(), value(), [value(), value()]), 0..4),
    ) {
        let actions: Vec<Action> =
            steps.into_iter().map(|(operation, value, centre)| Action { operation, value, centre }).collect();
        let Picture { height, width, channels, ref pixels } = picture;
        let planes = |pixels: &[u8]| -> Vec<u8> {
            (0..channels).flat_map(|channel| pixels.iter().skip(channel).step_by(channels).copied()).collect()
        };
        let expected = actions.iter().fold(picture.clone(), |picture, &action| applied(action, &picture));
        let mut found = vec![77; pixels.len()];
        Action::apply_all(&actions, Frame::interleaved(pixels, height, width, channels).unwrap(), &mut found);
        prop_assert_eq!(&found, &expected.pixels);
        found.fill(77);
        let split = planes(pixels);
        Action::apply_all(&actions, Frame::planar(&split, height, width, channels).unwrap(), &mut found);
        prop_assert_eq!(found, planes(&expected.pixels));
        prop_assert!(Frame::planar(&split, height, width + 1, channels).is_none());
    }

    #[test]
    fn values_that_mean_nothing_leave_the_picture_as_it_is(picture in picture()) {
        for (operation, value) in [
            (Identity, 0.0), (Identity, 7.0), (ShearX, 0.0), (ShearY, 0.0), (TranslateX, 0.0), (TranslateY, 0.0),
            (Rotate, 0.0), (Rotate, 360.0), (Brightness, 1.0), (Color, 1.0), (Contrast, 1.0), (Sharpness, 1.0),
            (Posterize, 8.0), (Solarize, 256.0), (SolarizeAdd, 0.0), (Cutout, 0.0),
        ] {
            prop_assert_eq!(&applied(Action::new(operation, value), &picture), &picture, "{:?}", operation);
        }
    }

    #[test]
    fn twice_undoes_once(picture in picture()) {
        for (operation, value) in [(Invert, 0.0), (Flip, 0.0), (Rotate, 180.0), (Solarize, 0.0)] {
            let action = Action::new(operation, value);
            prop_assert_eq!(&applied(action, &applied(action, &picture)), &picture, "{:?}", operation);
        }
        // Once grey, always grey.
        let grey = applied(Action::new(Grayscale, 0.0), &picture);
        prop_assert_eq!(&applied(Action::new(Grayscale, 0.0), &grey), &grey);
    }

    #[test]
    fn grey_pictures_have_no_colour_to_change(picture in picture(), value in -0.5..0.5) {
        prop_assume!(picture.channels == 1);
        for operation in [Color, Hue, Grayscale] {
            prop_assert_eq!(&applied(Action::new(operation, value), &picture), &picture, "{:?}", operation);
        }
    }

    #[test]
    fn every_baseline_takes_every_picture(picture in picture(), index in any::<u32>()) {
        let moment = Moment { height: picture.height, width: picture.width, progress: 0.5 };
        for baseline in Baseline::all() {
            let Some(augmentation) = baseline.augmentation() else { continue };
            let mut result = picture.clone();
            for action in augmentation.actions(&mut Stream::new(1, Purpose::named("test"), 0, index), moment) {
                prop_assert!(action.value.is_finite());
                action.apply(&mut result);
            }
            prop_assert_eq!(result.shape(), picture.shape());
        }
    }
}

#[test]
fn a_picture_without_pixels_is_left_alone() {
    for operation in Operation::ALL {
        for (height, width) in [(0, 0), (0, 5), (5, 0)] {
            let mut empty = Picture { height, width, channels: 3, pixels: Vec::new() };
            Action::new(operation, 1.5).apply(&mut empty);
            assert!(empty.pixels.is_empty());
        }
    }
}

#[test]
fn no_bits_leave_black() {
    let mut picture = Picture { height: 1, width: 2, channels: 1, pixels: vec![3, 255] };
    Action::new(Posterize, 0.0).apply(&mut picture);
    assert_eq!(picture.pixels, [0, 0]);
}
