export interface ServerEvent {
  readonly event: string;
  readonly data: string;
}

/** Cuts a stream of text into server-sent events. A part of an event stays here until its rest arrives. */
export class EventParser {
  private rest = '';

  push(text: string): ServerEvent[] {
    const blocks = (this.rest + text).replaceAll('\r\n', '\n').split('\n\n');
    this.rest = blocks.pop() ?? '';
    return blocks.flatMap((block) => {
      const lines = block.split('\n').filter((line) => !line.startsWith(':'));
      const data = lines.filter((line) => line.startsWith('data:')).map((line) => line.slice(5).trimStart());
      const event =
        lines
          .find((line) => line.startsWith('event:'))
          ?.slice(6)
          .trim() ?? 'message';
      return data.length > 0 ? [{ event, data: data.join('\n') }] : [];
    });
  }
}
