// Libraries that have no types of their own.

declare module "sns-validator" {
  export default class MessageValidator {
    validate(message: string, done: (error: Error | null) => void): void;
  }
}

declare module "smartcar" {
  const smartcar: {
    verifyPayload(token: string, signature: string, body: unknown): boolean;
    hashChallenge(token: string, challenge: string): string;
  };
  export default smartcar;
}
