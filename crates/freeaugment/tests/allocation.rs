//! Memory is taken per batch, not per image: once threads have their working memory, a larger batch does not allocate
//! more often.

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use common::{noise_images, normal};
use freeaugment::{
    Assignment, Chain, Groups, ImagesMut, ImagesRef, PolicyConfig, Shape, Step, Transformation,
};

/// Counts allocations and otherwise leaves them to the system.
struct Counting;

static COUNT: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is passed on to the system's allocator unchanged.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `alloc`, which is the same here.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the pointer came from `alloc` above, which is the system's.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Whoever counts must be alone.
static ALONE: Mutex<()> = Mutex::new(());

#[test]
fn bytes_are_augmented_without_an_allocation() {
    let alone = ALONE.lock();
    let steps = Transformation::PAPER.map(|transformation| {
        let magnitude = transformation.magnitude().map(|magnitude| magnitude.range.0);
        Step { transformation, magnitude }
    });
    let chain = Chain::new(steps.to_vec()).unwrap();
    let shape = Shape { count: 1, channels: 3, height: 20, width: 30 };
    let (bytes, mut out) = (vec![100_u8; shape.image()], vec![0_u8; shape.image()]);
    let mut least = usize::MAX;
    for _ in 0..20 {
        let before = COUNT.load(Ordering::Relaxed);
        let images = ImagesRef::interleaved(&bytes, shape).unwrap();
        chain.apply_into(images, ImagesMut::planar(&mut out, shape).unwrap()).unwrap();
        least = least.min(COUNT.load(Ordering::Relaxed) - before);
    }
    assert_eq!(least, 0);
    drop(alone);
}

#[test]
fn a_larger_batch_does_not_allocate_more_often() {
    let alone = ALONE.lock();
    let policy = PolicyConfig { assignment: Assignment::Exact, ..PolicyConfig::default() }.init().unwrap();
    let count_of = |images: usize| {
        let shape = Shape { count: images, channels: 3, height: 16, width: 16 };
        let batch = noise_images(1, shape);
        let cotangent = normal(2, batch.as_slice().len());
        let mut out = batch.clone();
        let indices: Vec<u32> = (0..images as u32).collect();
        let mut least = usize::MAX;
        // The first rounds warm up; the scheduler of the threads allocates now and then, so the least counts.
        for epoch in 0..20 {
            let before = COUNT.load(Ordering::Relaxed);
            let sample = policy.sample(policy.draw(0, epoch, &indices), 0.5).unwrap();
            policy.apply_into(&batch, &sample, &mut out).unwrap();
            policy.pullback(&batch, &sample, &cotangent, Groups::ALL).unwrap();
            least = least.min(COUNT.load(Ordering::Relaxed) - before);
        }
        least
    };
    let (small, large) = (count_of(8), count_of(512));
    assert!(large <= small + 8, "{small} allocations for 8 images, {large} for 512");
    drop(alone);
}
