// What a client gives to a route and gets from it, as types worked out from the route itself.
import type { z } from 'zod';
import type { Route } from './route.ts';

/** What a caller of the route gives. A part may be left out when none of it is required. */
export type RequestOf<R extends Route> = LeaveOut<{ [K in keyof R['request']]: Given<R['request'][K]> }>;

/** What a good answer brings: its JSON, or its text; undefined when it has no body. */
export type AnswerOf<R extends Route> = {
  [S in keyof R['responses']]: `${S & number}` extends `2${string}` ? Brought<R['responses'][S]> : never;
}[keyof R['responses']];

/** A route whose answer is a stream of events. */
export type StreamRoute = Route & {
  responses: { 200: { content: { 'text/event-stream': { schema: z.ZodType } } } };
};

/** One of the events that it streams. */
export type EventOf<R extends StreamRoute> = z.output<
  R['responses'][200]['content']['text/event-stream']['schema']
>;

type Given<P> = P extends z.ZodType
  ? { [K in keyof z.input<P>]: Written<z.input<P>[K]> }
  : P extends { content: infer C }
    ? Sent<C>
    : never;

/** A body that has the form of a text too may be given as that text. */
type Sent<C> = {
  [T in keyof C]: C[T] extends { schema: infer S extends z.ZodType } ? z.input<S> : never;
}[keyof C];

/** What is text on its way may be given as a number. */
type Written<T> = string extends T ? T | number : T;

type Brought<A> = A extends { content: infer C }
  ? 'application/json' extends keyof C
    ? Read<C, 'application/json'>
    : Read<C, 'text/plain'>
  : undefined;

type Read<C, T> = T extends keyof C
  ? C[T] extends { schema: infer S extends z.ZodType }
    ? z.output<S>
    : never
  : never;

type LeaveOut<T> = { [K in Needed<T>]: T[K] } & { [K in Exclude<keyof T, Needed<T>>]?: T[K] };
type Needed<T> = {
  [K in keyof T]: T[K] extends string ? K : Partial<T[K]> extends T[K] ? never : K;
}[keyof T];
