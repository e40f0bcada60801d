/**
 * `timeout`: drawing took too long. `worker_lost`: the thread died. `closed`: the renderer was closed.
 * `not_a_note`: the XML is not an NFS-e with the parts every NFS-e has. `drawing`: the layout failed.
 */
export type PdfFailure = 'timeout' | 'worker_lost' | 'closed' | 'not_a_note' | 'drawing';

/** A document that was not drawn. The message never quotes the note; `cause` is why a thread died. */
export class PdfFailed extends Error {
  override readonly name = 'PdfFailed';

  constructor(
    readonly reason: PdfFailure,
    cause?: unknown,
  ) {
    super(`the document was not drawn: ${reason}`, { cause });
  }
}
