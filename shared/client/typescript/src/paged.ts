/** Page is what pages have in common. */
export interface Page<I> {
  items: I[];
  more: boolean;
}

/**
 * Paged is a list that comes in pages. `await` it for one page, or iterate over it with `for
 * await` for all items; each page is requested when it is needed. `pages()` iterates over the
 * pages.
 */
export class Paged<P, I> implements PromiseLike<P>, AsyncIterable<I> {
  private first?: Promise<P>;

  /**
   * read requests a page; cursor is undefined for the first. next returns the cursor of the
   * page after a page, or undefined at the end.
   */
  constructor(
    private readonly read: (cursor?: string) => Promise<P>,
    private readonly items: (page: P) => I[],
    private readonly next: (page: P) => string | undefined,
  ) {}

  private page(): Promise<P> {
    return (this.first ??= this.read());
  }

  then<A = P, B = never>(onPage?: ((page: P) => A | PromiseLike<A>) | null, onError?: ((error: unknown) => B | PromiseLike<B>) | null): Promise<A | B> {
    return this.page().then(onPage, onError);
  }

  catch<B = never>(onError?: ((error: unknown) => B | PromiseLike<B>) | null): Promise<P | B> {
    return this.page().catch(onError);
  }

  finally(onEnd?: (() => void) | null): Promise<P> {
    return this.page().finally(onEnd);
  }

  /** Iterates over the pages, from the first. */
  async *pages(): AsyncGenerator<P, void> {
    let page = await this.page();
    for (let last: string | undefined; ; ) {
      yield page;
      const cursor = this.next(page);
      if (cursor === undefined || cursor === last) return;
      page = await this.read((last = cursor));
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<I, void> {
    for await (const page of this.pages()) yield* this.items(page);
  }
}
