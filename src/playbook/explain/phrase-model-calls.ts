import { escapeControl } from '../../shared/escape-control.ts'
import type { ModelCallBound } from './explanation.ts'

/** The most model calls, as lines for people. */
export function phraseModelCalls({ most, because, besides, limit }: ModelCallBound): readonly string[] {
  const first =
    most === null
      ? `Model calls in a run: unbounded (${escapeControl(because.join('; '))}).`
      : most === 0 && besides.length === 0
        ? 'A run calls no model.'
        : `A run takes at most ${phraseCalls(most)}${besides.length === 0 ? '.' : ', and'}`
  const more = besides.map(({ each, most: number }, index) => {
    const end = index === besides.length - 1 ? '.' : ';'
    return `  ${number === null ? 'any number' : `up to ${grouped(number)}`} more each ${escapeControl(each)}${end}`
  })
  if (limit === null || (most !== null && most <= limit && besides.length === 0)) return [first, ...more]
  return [first, ...more, `The playbook allows ${phraseCalls(limit)}: a run that reaches them fails.`]
}

function phraseCalls(number: number): string {
  return number === 1 ? '1 model call' : `${grouped(number)} model calls`
}

function grouped(number: number): string {
  return String(number).replace(/\B(?=(\d{3})+$)/g, ',')
}
