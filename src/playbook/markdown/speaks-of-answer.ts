const answer =
  /confirm|agree|approv|accept|consent|permi|declin|refus|reject|den(?:y|ies|ied)|answer|repl(?:y|ies)|respon|affirm|positive|negative|\b(?:said|says?|yes|no|not|so|ok|okay|they|theirs?|wants?|does|do|would|likes?|fine|happy|sure|correct|right|wrong|it\s+is|that\s+is)\b/i

/** Whether the words of a condition may be about what a person answered. */
export function speaksOfAnswer(condition: string): boolean {
  return answer.test(condition)
}
