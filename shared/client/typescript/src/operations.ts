// The one place that reads the types made from the OpenAPI document. Everything else names
// an operation by its id.
import type { operations } from "./generated/openapi.js";

/** The id of an operation of the OpenAPI document, such as "post" or "read_channel". */
export type Operation = keyof operations;

type Content<R> = R extends { content: { "application/json": infer J } } ? J
  : R extends { content: { "application/feed+json": infer J } } ? J
  : R extends { content: infer C } ? C[keyof C]
  : never;

/** What an operation answers. */
export type Answer<Op extends Operation> = Content<
  operations[Op]["responses"][keyof operations[Op]["responses"] & (200 | 201 | 202)]
>;

type Sent<R> = R extends { content: { "application/json": infer J } } ? J
  : R extends { content: { "application/x-www-form-urlencoded": infer J } } ? J // the service takes the same members as JSON
  : never;

/** The JSON that an operation takes. */
export type Body<Op extends Operation> = Sent<NonNullable<operations[Op]["requestBody"]>>;

/** The query that an operation takes. */
export type Query<Op extends Operation> = NonNullable<operations[Op]["parameters"]["query"]>;

/** The names in an operation's path. */
export type Path<Op extends Operation> = NonNullable<operations[Op]["parameters"]["path"]>;

/** The members of `error` in a refusal. */
export type ErrorBody = operations["post"]["responses"][422]["content"]["application/json"]["error"];

/** A code of the service's errors; /docs/errors describes each. */
export type ErrorCode = ErrorBody["code"];

/** One field that breaks a rule. */
export type ErrorField = NonNullable<ErrorBody["fields"]>[number];

/** A challenge: `puzzle` has the `question` and the `records`. */
export type Challenge = Answer<"get_challenge">;
export type Puzzle = Challenge["puzzle"];

type Each<Op extends Operation> = Answer<Op> extends { items: (infer I)[] } ? I : never;

/** A post or reply, as lists have it. */
export type Post = Each<"search">;
/** An event of the inbox. */
export type Event = Each<"inbox">;
/** A direct message, as its reader sees it. */
export type Message = Each<"read_messages">;
/** A call that the service suggests to make next. */
export type Next = Answer<"post">["next"][number];
