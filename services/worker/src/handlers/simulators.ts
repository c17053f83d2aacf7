// What FlowForge's six types do on each try: deterministic, without a database or a clock.

/** Why a try, counted from 1, fails; null when it succeeds. */
type Simulator = (tryNumber: number) => string | null;

const alwaysSucceeds: Simulator = () => null;
const neverSucceeds: Simulator = () => 'ML inference failed: schema mismatch between the model and its input';

export const SIMULATORS = {
  'user.created': alwaysSucceeds,
  'document.uploaded': alwaysSucceeds,
  'claim.submitted': alwaysSucceeds,
  'notification.send': (tryNumber) =>
    tryNumber === 1 ? 'the notification provider answered 503 Service Unavailable' : null,
  'payment.review_requested': (tryNumber) =>
    tryNumber % 2 === 0 ? 'the payment review service timed out' : null,
  'ml_job.queued': neverSucceeds,
} satisfies Record<string, Simulator>;
