// Lets modules in any folder import the SDK by its name, `@wfg/sdk`; nothing else is looked up differently. Imported by
// the worker before a module, and for programs of one's own: `node --import <here>/register.ts program.ts`.
import { registerHooks } from 'node:module';

const SDK = new URL('sdk.ts', import.meta.url).href;

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === '@wfg/sdk' ? { url: SDK, shortCircuit: true } : next(specifier, context),
});
