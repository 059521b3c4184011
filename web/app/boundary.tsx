/** Where a view cannot be shown, it says so: a part of the page that the server has no more, or a fault of ours. */
import { Component, type ReactNode } from 'react';

export class Boundary extends Component<{ children: ReactNode }, { problem?: string }> {
  override state: { problem?: string } = {};

  static getDerivedStateFromError(error: unknown): { problem: string } {
    return { problem: String(error) };
  }

  override render(): ReactNode {
    const { problem } = this.state;
    if (problem === undefined) return this.props.children;
    return (
      <main className="alone">
        <div role="alert">
          <h1>This view cannot be shown.</h1>
          <p>Was bosun updated? Then load the page again; nothing is lost by it.</p>
          <p>
            <code>{problem}</code>
          </p>
        </div>
        <p>
          <button className="act main" onClick={() => location.reload()}>
            Load again
          </button>{' '}
          <a className="act" href="/">
            All runs
          </a>
        </p>
      </main>
    );
  }
}
