/** It has no types of its own. */
declare module "sns-validator" {
  export default class MessageValidator {
    validate(message: string, done: (error: Error | null) => void): void;
  }
}
