// Loaded by node before a program: its machine's clock is wrong by SKEW_MS, for all that asks Date.
const skewMs = Number(process.env['SKEW_MS']);
const now = Date.now.bind(Date);

Date.now = () => now() + skewMs;
globalThis.Date = new Proxy(Date, {
  construct: (target, args, newTarget) =>
    Reflect.construct(target, args.length === 0 ? [Date.now()] : args, newTarget),
});
