/** The testkit, published as `holt/testkit`: test your fleet's supervision in milliseconds, without a thread. */
export { eventually } from './eventually.ts'
export { FakeClock } from './fake-clock.ts'
export { type FakeBehaviour, type FakeBehaviours, type FakeRole, FakeThread, FakeThreads } from './fake-thread.ts'
export { Probe, probe } from './probe.ts'
export { createTestHost, TestHost, type TestHostOptions } from './test-host.ts'
