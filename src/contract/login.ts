/** How a program of this machine is logged in, as its runtime describes it and the gateway uses it. Types only. */

/** Where a program keeps its login: in the directory that a variable names, else in one below the home. */
export interface LoginPlace {
  variable: string;
  below: string;
  file: string;
}

/** What is sent of a login; both of one and the same version of it. */
export interface LoginParts {
  token: string;
  /** Whose it is, where that has to be said. */
  account?: string;
}

/** A login that agents which are the same program may use: they run with a home of their own, where there is none. */
export interface ProgramLogin {
  /** As messages call it. */
  program: string;
  /** The provider that it opens, by the name that it has here. */
  provider: string;
  place: LoginPlace;
  /** A variable that may hold the token; it goes before the file. */
  variable?: string;
  /** Follows where it was found, such as `with ChatGPT`. */
  plan?: string;
  /** Given is the text of the file; undefined where it cannot be read. */
  kindOf(text: string | undefined): 'subscription' | 'key' | undefined;
  /** The subscription in the text of the file; without a token where there is none. */
  subscription(text: string): LoginParts | { problem: string };
  /** A key in the text of the file is as good as any other. */
  key?: { of(text: string): string; remedy: string };
  /** Where the program itself would send the subscription. */
  baseUrl: string;
  /** Requests of the program itself are known by how their `user-agent` begins; a subscription is for no other. */
  userAgent: string;
  /** A login may do more at the provider than ask models, such as make keys; agents may not. */
  path: RegExp;
  /** Headers that go with the subscription, of a request with these ones. */
  headers(sent: Readonly<Record<string, string>>, parts: LoginParts): Record<string, string>;
  /** What people do about a subscription that does not serve. */
  remedy: string;
}
