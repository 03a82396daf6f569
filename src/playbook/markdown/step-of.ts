import type { Step, StepBody } from '../program.ts'
import type { Bullet } from './bullet.ts'

/**
 * The step of a bullet. The commonest kinds are written out: copying whatever a body has takes several times as long, and is done for every
 * bullet.
 */
export function stepOf({ id, text, line }: Pick<Bullet, 'id' | 'text' | 'line'>, body: StepBody): Step {
  switch (body.kind) {
    case 'set':
      return { id, text, line, kind: 'set', target: body.target, value: body.value }
    case 'call':
      return { id, text, line, kind: 'call', value: body.value, target: body.target }
    case 'say':
      return { id, text, line, kind: 'say', words: body.words }
    case 'ask': {
      const { words, targets, until, maxTurns } = body
      return { id, text, line, kind: 'ask', words, targets, until, maxTurns }
    }
    case 'extract': {
      const { targets, instruction, from } = body
      return { id, text, line, kind: 'extract', targets, instruction, from }
    }
    case 'return':
      return { id, text, line, kind: 'return', value: body.value }
    case 'act': {
      const { instruction, targets, reads, tools, reach, maxCalls } = body
      return { id, text, line, kind: 'act', instruction, targets, reads, tools, reach, maxCalls }
    }
    default:
      return { id, text, line, ...body }
  }
}
