/** The report and the tables of the READMEs, from outcomes made up. Runs no bench. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Bench, Outcomes } from '../../bench/definition.ts'
import { escapeText } from '../../bench/escape.ts'
import { chartOf, formatScale } from '../../bench/report-chart.ts'
import { htmlReport } from '../../bench/report-html.ts'
import { BEGIN, END, replaceBlock, resultsBlock, targetRows, targetsBlock } from '../../bench/report-markdown.ts'
import { isFull, type Run, readKept, writeRun } from '../../bench/results.ts'

const NASTY = `<script>alert("1")</script> & 'x'`

const bench: Bench = {
  name: 'sample',
  summary: `compares ${NASTY}`,
  metrics: [
    { key: 'rate', label: 'events/s', ratio: true },
    { key: 'p99', label: 'p99 µs', ratio: false },
  ],
  base: 'bare',
  variants: { bare: async () => ({}), Holt: async () => ({}), [NASTY]: async () => ({}) },
  targets: [
    { variant: 'Holt', against: 'bare', metric: 'rate', atLeast: 2 },
    { variant: 'Holt', against: 'bare', metric: 'rate', atMost: 1.5 },
    { variant: 'Holt', against: NASTY, metric: 'rate', atLeast: 1 },
  ],
  packages: [],
  leavesOut: { bare: `bounds ${NASTY}`, gone: 'everything' },
}

const rates = (...all: number[]) => all.map((rate) => ({ figures: { rate } }))

const outcomes: Outcomes = {
  bare: rates(100, 110, 90, 100, 100),
  Holt: rates(300, 220, 270, 250, 300),
  [NASTY]: Array.from({ length: 5 }, () => ({ failure: `Error: ${NASTY}` })),
}

const run: Run = {
  bench: 'sample',
  at: '2026-01-02T03:04:05.678Z',
  command: 'npm run bench -- sample',
  rounds: 5,
  quick: false,
  large: false,
  oneCpu: false,
  limitMs: 1000,
  tookMs: 12_000,
  where: {
    cpu: `A <b>CPU</b>`,
    cores: 2,
    memoryGib: 24,
    platform: 'Linux',
    node: 'v20.20.2',
    packages: { holt: '0.1.0' },
    load: 1,
  },
  outcomes,
}

const all = [{ bench, run }]

describe('text in HTML', () => {
  it('has no character that means something there', () => {
    expect(escapeText(NASTY)).toBe('&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; &#39;x&#39;')
  })
})

describe('the report', () => {
  const page = htmlReport(all)

  it('holds what variants and failures say as text only', () => {
    expect(page).not.toMatch(/<script|<b>/i)
    expect(page).toContain('Error: &lt;script&gt;')
  })
  it('asks for nothing from anywhere', () => {
    expect(page).toContain('default-src &#39;none&#39;')
    expect(page).not.toMatch(/\b(src|href)="(?!#)/)
    expect(page).not.toMatch(/url\(|@import|CDATA/)
  })
  it('says machine, versions, command, targets and what a variant leaves out', () => {
    for (const said of [
      '2 cores, 24 GiB',
      'holt 0.1.0',
      'npm run bench -- sample',
      '3.00 × [2.00–3.00]',
      'bounds &lt;',
    ])
      expect(page).toContain(said)
    expect(page).toContain('1 of 3 targets met, 1 missed, 1 not measured.')
    expect(page).not.toContain('everything')
  })
  it('says which run is not a full one', () => {
    expect(page).not.toContain('A partial run')
    expect(htmlReport([{ bench, run: { ...run, rounds: 1 } }])).toContain('A partial run')
  })
  it('has a place for a bench that has not been run', () => {
    expect(htmlReport([{ bench, run: undefined }])).toContain('Not run yet.')
  })
})

describe('a chart', () => {
  const chart = (series: Outcomes) => chartOf(bench, bench.metrics[0]!, series, 'x')

  it('names itself and its figures for those who do not see it', () => {
    const { svg } = chart(outcomes)!
    expect(svg).toMatch(/^<svg role="img" aria-labelledby="x-title x-desc"/)
    expect(svg).toContain('<title id="x-title">sample, events/s</title>')
    expect(svg).toContain('bare: 100 [90.0–110]; Holt: 270 [220–300]')
  })
  it('writes the figures beside the bars, in the colour of the page', () => {
    const { svg } = chart(outcomes)!
    expect(svg).toMatch(/fill="currentColor"[^>]*>270 \[220–300\]<\/text>/)
  })
  it.each([
    [[1, 30], false],
    [[1, 31], true],
    [[0, 31], false],
  ])('of %j has a logarithmic scale: %s', ([low, high], expected) => {
    expect(chart({ bare: rates(low!), Holt: rates(high!) })?.logarithmic).toBe(expected)
  })
  it('is drawn of nothing but zeros', () => {
    expect(chart({ bare: rates(0, 0) })?.svg).toContain('</svg>')
  })
  it('is none where there is no figure', () => {
    expect(chart({ bare: [{ failure: 'Error: no' }] })).toBeUndefined()
  })
  it.each([
    [2_000_000, '2 M'],
    [1_500, '1.5 k'],
    [0.25, '0.25'],
    [0, '0'],
  ])('has %d on its scale as %s', (value, expected) => {
    expect(formatScale(value)).toBe(expected)
  })
})

describe('the targets', () => {
  it('have the median and the spread of the ratios round by round', () => {
    expect(targetRows(all)).toEqual([
      {
        bench: 'sample',
        claim: 'Holt ÷ bare (events/s)',
        asked: '≥ 2 ×',
        reached: '3.00 × [2.00–3.00]',
        verdict: 'met',
      },
      {
        bench: 'sample',
        claim: 'Holt ÷ bare (events/s)',
        asked: '≤ 1.5 ×',
        reached: '3.00 × [2.00–3.00]',
        verdict: 'missed',
      },
      {
        bench: 'sample',
        claim: `Holt ÷ ${NASTY} (events/s)`,
        asked: '≥ 1 ×',
        reached: '–',
        verdict: 'not measured',
      },
    ])
  })
  it('of a bench without a run are not measured', () => {
    const verdicts = targetRows([{ bench, run: undefined }]).map(({ verdict }) => verdict)
    expect(new Set(verdicts)).toEqual(new Set(['not measured']))
  })
  it('name the machine once in the README', () => {
    const block = targetsBlock([...all, ...all])
    expect(block).toContain('| `sample` | Holt ÷ bare (events/s) | ≤ 1.5 × | 3.00 × [2.00–3.00] | **missed** |')
    expect(block.match(/24 GiB/g)).toHaveLength(1)
  })
})

describe('the results in Markdown', () => {
  it('have conditions, table, failures, targets and omissions of each bench that was run', () => {
    const block = resultsBlock([...all, { bench: { ...bench, name: 'other' }, run: undefined }])
    expect(block).toContain('2026-01-02; 5 rounds, each variant in a fresh process; `npm run bench -- sample`')
    expect(block).toContain('| Holt | 270 [220–300] | 3.00 |')
    expect(block).toContain('- FAILED')
    expect(block).toContain('- MISSED: Holt ≤ 1.5 × bare (3.00 ×)')
    expect(block).toContain('- without: bare: bounds')
    expect(block).not.toContain('other')
  })
})

describe('before the first full run', () => {
  const none = [{ bench, run: undefined }]

  it('the READMEs say that nothing was measured', () => {
    expect(targetsBlock(none)).toContain('Nothing has been measured yet.')
    expect(resultsBlock(none)).toBe('No full run is kept yet.')
  })
})

describe('a block between markers', () => {
  const text = `before\n${BEGIN}\nold\n${END}\nafter\n`

  it('is replaced, and nothing else', () => {
    expect(replaceBlock(text, 'new')).toBe(`before\n${BEGIN}\n\nnew\n\n${END}\nafter\n`)
  })
  it('is the same when it is replaced again', () => {
    const once = replaceBlock(text, 'new $& $1')
    expect(replaceBlock(once, 'new $& $1')).toBe(once)
  })
  it.each([
    ['no markers', 'text'],
    ['no end', `a ${BEGIN} b`],
    ['the end first', `a ${END} b ${BEGIN} c ${END}`],
    ['two blocks', text + text],
  ])('is refused with %s', (_, wrong) => {
    expect(() => replaceBlock(wrong, 'new')).toThrow(/Expected one/)
  })
})

describe('a run on disk', () => {
  const folder = (): string => {
    const made = mkdtempSync(join(tmpdir(), 'holt-bench-test-'))
    onTestFinished(() => rmSync(made, { recursive: true, force: true }))
    return made
  }

  it('is kept under the name of its bench where it is full', () => {
    const here = folder()
    writeRun(run, bench, here)
    expect(readdirSync(here).sort()).toEqual(['sample-2026-01-02T03-04-05.678Z.json', 'sample.json'])
    expect(readKept('sample', here)).toEqual(run)
  })
  it.each([
    ['quick', { quick: true }],
    ['of few rounds', { rounds: 4 }],
    ['of some variants', { outcomes: { bare: outcomes['bare']! } }],
    ['on another number of processors than its bench asks for', { oneCpu: true }],
  ])('does not take the place of a full one when it is %s', (_, change) => {
    const here = folder()
    writeRun(run, bench, here)
    writeRun({ ...run, ...change, at: '2026-02-02T03:04:05.678Z' }, bench, here)
    expect(isFull({ ...run, ...change }, bench)).toBe(false)
    expect(readKept('sample', here)?.at).toBe(run.at)
    expect(readdirSync(here)).toHaveLength(3)
  })
  it('is none before the first', () => {
    expect(readKept('sample', folder())).toBeUndefined()
  })
})
