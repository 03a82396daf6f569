import type { JsonObject } from '../shared/json.ts'
import type { Tool } from './tool.ts'

/** A call that is about to be judged. */
export interface ComingCall {
  readonly callId: string
  /** Null where no such tool is registered. */
  readonly tool: Tool | null
  readonly args: JsonObject
  /** Aborts when nobody waits for the call any more. */
  readonly signal: AbortSignal | undefined
}

/** Where the calls of several runs wait for each other before the gate judges them. It decides nothing. */
export interface CallTurnstile {
  /**
   * Lets a call pass, at once where nothing stands in the way, else when it may. Gives what is to be called when the call is over or was refused; null
   * where nobody waits for it any more, because its run was put down.
   */
  enter(call: ComingCall): (() => void) | Promise<(() => void) | null>
}
