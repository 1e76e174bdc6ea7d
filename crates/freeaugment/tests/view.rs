//! Borrowed images: whatever their values are and however they lie in memory, the result is that of the plain batch.

mod common;

use common::{noise_images, normal, random_parameters, uniform};
use freeaugment::{
    Error, Estimator, Gradients, Groups, Images, ImagesMut, ImagesRef, Pixel, Policy, PolicyConfig, Sample,
    Shape, Strides, Transformation,
};
use proptest::prelude::*;

const SHAPE: Shape = Shape { count: 3, channels: 3, height: 5, width: 7 };

fn policy(estimator: Estimator) -> Policy {
    let config = PolicyConfig { estimator, ..PolicyConfig::default() };
    Policy::new(config.clone(), random_parameters(5, &config)).unwrap()
}

fn sample(policy: &Policy, shape: Shape) -> Sample {
    let indices: Vec<u32> = (0..shape.count as u32).collect();
    policy.sample(policy.draw(1, 2, &indices), 0.7).unwrap()
}

/// The places of all values of a batch, `[batch, channel, height, width]`, in an array with these strides.
fn places(shape: Shape, strides: Strides) -> impl Iterator<Item = usize> {
    (0..shape.count * shape.image()).map(move |at| {
        let (image, at) = (at / shape.image(), at % shape.image());
        let (channel, at) = (at / shape.plane(), at % shape.plane());
        let (y, x) = (at / shape.width, at % shape.width);
        image * strides.image + channel * strides.channel + y * strides.row + x * strides.column
    })
}

/// An array with these values at their places and `gap` everywhere else.
fn spread<T: Copy>(values: &[T], shape: Shape, strides: Strides, gap: T) -> Vec<T> {
    let len = places(shape, strides).max().map_or(0, |last| last + 1);
    let mut array = vec![gap; len + 2];
    for (place, &value) in places(shape, strides).zip(values) {
        array[place] = value;
    }
    array
}

fn collect<T: Copy>(array: &[T], shape: Shape, strides: Strides) -> Vec<T> {
    places(shape, strides).map(|place| array[place]).collect()
}

fn shapes() -> impl Strategy<Value = Shape> {
    (0_usize..4, prop_oneof![Just(1_usize), Just(3)], 1_usize..12, 1_usize..12)
        .prop_map(|(count, channels, height, width)| Shape { count, channels, height, width })
}

/// The dimensions in any order, the first innermost, with gaps of up to two values between neighbours.
fn strided_shapes(order: impl Strategy<Value = Vec<usize>>) -> impl Strategy<Value = (Shape, Strides)> {
    (shapes(), order, prop::array::uniform4(0_usize..3)).prop_map(|(shape, order, gaps)| {
        let sizes = [shape.count, shape.channels, shape.height, shape.width];
        let mut strides = [0; 4];
        let mut reach = 1;
        for (&dimension, gap) in order.iter().zip(gaps) {
            strides[dimension] = reach + gap;
            reach += sizes[dimension].saturating_sub(1) * strides[dimension];
        }
        let [image, channel, row, column] = strides;
        (shape, Strides { image, channel, row, column })
    })
}

/// Any order, as for images that are only read.
fn readable() -> impl Strategy<Value = (Shape, Strides)> {
    strided_shapes(Just(vec![0, 1, 2, 3]).prop_shuffle())
}

/// Any order in which whole images follow one another, as for images that are written.
fn writable() -> impl Strategy<Value = (Shape, Strides)> {
    let order = Just(vec![1, 2, 3]).prop_shuffle();
    strided_shapes(order.prop_map(|inner| [inner, vec![0]].concat()))
}

fn pull(policy: &Policy, images: ImagesRef<'_>) -> Gradients {
    let shape = images.shape();
    let cotangent = normal(3, shape.count * shape.image());
    let losses = normal(4, shape.count);
    policy.pullback_with_losses(images, &sample(policy, shape), &cotangent, &losses, Groups::ALL).unwrap()
}

/// Everything that can be done with a view gives the bits of the plain batch.
fn assert_same(view: ImagesRef<'_>, images: &Images) {
    assert_eq!(&view.to_images(), images);
    for estimator in [Estimator::StraightThrough, Estimator::SoftBackward, Estimator::Gain] {
        let policy = policy(estimator);
        let sample = sample(&policy, view.shape());
        assert_eq!(policy.apply(view, &sample).unwrap(), policy.apply(images, &sample).unwrap());
        assert_eq!(pull(&policy, view), pull(&policy, images.into()));
    }
    let rotate = Transformation::named("Rotate").unwrap();
    let degrees = vec![17.0; view.shape().count];
    assert_eq!(rotate.apply(view, &degrees).unwrap(), rotate.apply(images, &degrees).unwrap());
    let cotangent = images.as_slice();
    assert_eq!(
        rotate.pullback(view, &degrees, cotangent).unwrap(),
        rotate.pullback(images, &degrees, cotangent).unwrap()
    );
}

fn bytes(seed: u64, shape: Shape) -> Vec<u8> {
    uniform(seed, shape.count * shape.image()).into_iter().map(|value| (value * 256.0) as u8).collect()
}

/// Applies a policy to a batch into an array of these strides, and says what it then holds.
fn applied_into<P: Pixel>(images: &Images, strides: Strides, gap: P) -> Vec<P> {
    let (shape, policy) = (images.shape(), policy(Estimator::StraightThrough));
    let mut array = spread(&vec![gap; shape.count * shape.image()], shape, strides, gap);
    let out = ImagesMut::strided(&mut array, shape, strides).unwrap();
    policy.apply_into(images, &sample(&policy, shape), out).unwrap();
    array
}

#[test]
fn the_orders_that_other_libraries_use_are_understood() {
    let images = noise_images(1, SHAPE);
    assert_same(ImagesRef::planar(images.as_slice(), SHAPE).unwrap(), &images);
    let interleaved = spread(images.as_slice(), SHAPE, Strides::interleaved(SHAPE), f32::NAN);
    assert_same(ImagesRef::interleaved(&interleaved[..interleaved.len() - 2], SHAPE).unwrap(), &images);
    let pixels = bytes(2, SHAPE);
    let images = Images::from_u8(&pixels, SHAPE).unwrap();
    assert_same(ImagesRef::interleaved(&pixels, SHAPE).unwrap(), &images);
    let planar = collect(&pixels, SHAPE, Strides::interleaved(SHAPE));
    assert_same(ImagesRef::planar(&planar, SHAPE).unwrap(), &images);
    // One image for the whole batch: a stride of zero.
    let one = Shape { count: 1, ..SHAPE };
    let repeated = Images::new(
        Images::from_u8(&pixels[..SHAPE.image()], one).unwrap().as_slice().repeat(SHAPE.count),
        SHAPE,
    );
    let strides = Strides { image: 0, ..Strides::interleaved(SHAPE) };
    assert_same(ImagesRef::strided(&pixels, SHAPE, strides).unwrap(), &repeated.unwrap());
}

#[test]
fn results_go_where_the_caller_wants_them() {
    let images = noise_images(3, SHAPE);
    let policy = policy(Estimator::StraightThrough);
    let sample = sample(&policy, SHAPE);
    let expected = policy.apply(&images, &sample).unwrap();
    let mut floats = vec![f32::NAN; expected.as_slice().len()];
    policy.apply_into(&images, &sample, ImagesMut::planar(&mut floats, SHAPE).unwrap()).unwrap();
    assert_eq!(floats, expected.as_slice());
    let mut pixels = vec![77; floats.len()];
    policy.apply_into(&images, &sample, ImagesMut::interleaved(&mut pixels, SHAPE).unwrap()).unwrap();
    assert_eq!(pixels, expected.to_u8());
}

#[test]
fn strides_that_lead_out_of_the_array_are_refused() {
    let values = vec![0.5_f32; SHAPE.count * SHAPE.image()];
    let planar = Strides::planar(SHAPE);
    assert!(ImagesRef::strided(&values, SHAPE, planar).is_ok());
    let error = ImagesRef::strided(&values[1..], SHAPE, planar).unwrap_err();
    assert_eq!(
        error.to_string(),
        "with strides [105, 35, 7, 1], the batch of images reaches over 315 values, but there are 314"
    );
    for huge in [
        Strides { image: usize::MAX, ..planar },
        Strides { channel: usize::MAX / 2 + 1, ..planar },
        Strides { row: usize::MAX, column: usize::MAX, ..planar },
    ] {
        let error = ImagesRef::strided(&values, SHAPE, huge).unwrap_err();
        assert!(matches!(error, Error::Reach { needed: usize::MAX, .. }), "{error}");
        assert!(ImagesMut::strided(&mut values.clone(), SHAPE, huge).is_err());
    }
    // Where there is no image, there is nothing to reach.
    let none = Shape { count: 0, ..SHAPE };
    let huge = Strides { image: usize::MAX, channel: usize::MAX, row: usize::MAX, column: usize::MAX };
    assert!(ImagesRef::strided::<u8>(&[], none, huge).is_ok());
    assert!(ImagesMut::strided::<u8>(&mut [], none, huge).is_ok());
    let impossible = Shape { channels: 2, ..SHAPE };
    assert!(matches!(ImagesRef::planar(&values, impossible), Err(Error::Shape { .. })));
    let endless = Shape { height: usize::MAX, ..SHAPE };
    assert!(matches!(ImagesRef::interleaved(&values, endless), Err(Error::Shape { .. })));
    assert!(matches!(ImagesRef::planar(&values[1..], SHAPE), Err(Error::Length { .. })));
    assert!(matches!(ImagesRef::interleaved(&values[1..], SHAPE), Err(Error::Length { .. })));
}

#[test]
fn images_that_share_values_are_read_and_not_written() {
    let mut values = vec![0.5_f32; 1000];
    let planar = Strides::planar(SHAPE);
    for shared in [
        Strides { image: 0, ..planar },
        Strides { image: planar.image - 1, ..planar },
        Strides { row: 6, ..planar },
        Strides { column: 0, ..planar },
        // Images between the values of others.
        Strides { image: 1, channel: 3, row: 9, column: 45 },
    ] {
        assert!(ImagesRef::strided(&values, SHAPE, shared).is_ok(), "{shared}");
        let error = ImagesMut::strided(&mut values, SHAPE, shared).unwrap_err();
        assert!(matches!(error, Error::Overlap { .. }), "{shared}: {error}");
    }
}

#[test]
fn values_outside_their_range_are_found_wherever_they_lie() {
    let strides = Strides::interleaved(SHAPE);
    let mut values = vec![0.5; SHAPE.count * SHAPE.image()];
    // Image 2, channel 1, row 3, column 4.
    let place = 2 * strides.image + strides.channel + 3 * strides.row + 4 * strides.column;
    values[place] = 1.5;
    let error = ImagesRef::interleaved(&values, SHAPE).unwrap_err();
    assert_eq!(error, Error::Pixel { image: 2, index: 35 + 3 * 7 + 4, value: 1.5 });
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn floats_with_any_strides_give_what_the_plain_batch_gives((shape, strides) in readable(), seed in any::<u64>()) {
        let images = noise_images(seed, shape);
        // What lies between the values is no part of the batch.
        let array = spread(images.as_slice(), shape, strides, f32::NAN);
        assert_same(ImagesRef::strided(&array, shape, strides).unwrap(), &images);
    }

    #[test]
    fn bytes_with_any_strides_give_what_the_plain_batch_gives((shape, strides) in readable(), seed in any::<u64>()) {
        let pixels = bytes(seed, shape);
        let images = Images::from_u8(&pixels, shape).unwrap();
        let planar = collect(&pixels, shape, Strides::interleaved(shape));
        let array = spread(&planar, shape, strides, 255);
        assert_same(ImagesRef::strided(&array, shape, strides).unwrap(), &images);
    }

    #[test]
    fn results_are_written_with_any_strides_and_nothing_else_is((shape, strides) in writable(), seed in any::<u64>()) {
        let images = noise_images(seed, shape);
        let policy = policy(Estimator::StraightThrough);
        let expected = policy.apply(&images, &sample(&policy, shape)).unwrap();
        let floats = applied_into(&images, strides, -1.0_f32);
        prop_assert_eq!(&floats, &spread(expected.as_slice(), shape, strides, -1.0));
        let planar = collect(&expected.to_u8(), shape, Strides::interleaved(shape));
        // A gap may hold a level too: run it with two of them.
        for gap in [0, 255] {
            prop_assert_eq!(applied_into(&images, strides, gap), spread(&planar, shape, strides, gap));
        }
    }

    #[test]
    fn no_strides_make_a_view_panic(shape in shapes(), strides in prop::array::uniform4(0_usize..40), len in 0_usize..2000) {
        let [image, channel, row, column] = strides;
        let strides = Strides { image, channel, row, column };
        let mut array = vec![7_u8; len];
        if let Ok(view) = ImagesRef::strided(&array, shape, strides) {
            prop_assert_eq!(view.to_images().to_u8(), vec![7; shape.count * shape.image()]);
        }
        if let Ok(out) = ImagesMut::strided(&mut array, shape, strides) {
            let policy = policy(Estimator::StraightThrough);
            policy.apply_into(&Images::black(shape).unwrap(), &sample(&policy, shape), out).unwrap();
        }
    }
}
