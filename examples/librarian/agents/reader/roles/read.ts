/**
 * Reads one document at a time into the index. A file that is gone is an answer, and so is an index that takes
 * nothing; bytes that are not UTF-8 are neither. Decoding throws, nobody catches it, and this instance dies: its death
 * record holds the cause and the message it died over, and the next document meets a fresh reader.
 */
import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { CommandError, type Context, defineRole } from 'holt/role'
import * as z from 'zod'
import type text from '../../../capabilities/text.ts'
import type { IndexedDocument } from '../../librarian/bm25.ts'
import { readMarkdown } from '../markdown.ts'

/** What a reader answers with when a document is in the index. */
export interface Receipt {
  readonly bytes: number
  readonly terms: number
}

const EXCERPT_LENGTH = 160

async function load(path: string): Promise<Uint8Array> {
  try {
    return await readFile(path)
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'Unreadable'
    throw new CommandError(`cannot read ${path}`, code)
  }
}

/** Waits until the librarian has it: reading is never ahead of indexing by more than one document. */
async function deliver(document: IndexedDocument, ctx: Context): Promise<void> {
  const { fate, reason } = await ctx.emit('librarian', 'document.added', document)
  if (fate === 'handled' || fate === 'queued') return
  throw new CommandError(`the librarian did not take it: ${reason ?? fate}`, 'NotIndexed')
}

export default defineRole({
  name: 'read',
  needs: ['text'],
  commands: {
    read: {
      summary: 'Reads one Markdown file into the index',
      input: z.object({ path: z.string().min(1) }),
      async handle({ path }: { path: string }, ctx: Context): Promise<Receipt> {
        const bytes = await load(path)
        const page = readMarkdown(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
        const [bag] = await ctx.capability<typeof text.methods>('text').terms([page.text])
        if (bag === undefined) throw new Error('one text went in and no terms came out')
        await deliver(
          {
            path,
            title: page.title ?? basename(path),
            excerpt: page.text.slice(0, EXCERPT_LENGTH).replace(/\s+/g, ' '),
            bytes: bytes.byteLength,
            length: bag.length,
            terms: bag.terms,
          },
          ctx,
        )
        return { bytes: bytes.byteLength, terms: Object.keys(bag.terms).length }
      },
    },
  },
})
