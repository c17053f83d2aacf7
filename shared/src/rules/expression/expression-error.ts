// What is wrong with an expression or its evaluation, told to the author of the workflow.

export class ExpressionError extends Error {
  override name = 'ExpressionError';
}
