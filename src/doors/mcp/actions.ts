/** What engine_interrupt does. */

export const ACTIONS = ['pause', 'resume', 'cancel', 'steer'] as const;
export type Action = (typeof ACTIONS)[number];
