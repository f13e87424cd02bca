/**
 * The result of one wake.
 *
 * @typedef {object} WakeReport
 * @property {'newData' | 'noData' | 'failed'} result something was fetched, shown or removed; there was nothing to do;
 *   something could not be fetched
 * @property {string[]} shown the notifications whose secrets were shown, in this order
 * @property {string[]} waiting the notifications for which the user sees the generic text or the prompt
 * @property {string | null} code why not everything was shown; the first reason
 */

/**
 * @param {Partial<WakeReport>} [values]
 * @returns {WakeReport}
 */
export const wakeReport = (values = {}) => ({ result: 'noData', shown: [], waiting: [], code: null, ...values });

/**
 * Adds the result of the next step.
 *
 * @param {WakeReport} report changed in place
 * @param {WakeReport} other
 * @returns {WakeReport}
 */
export function addReport(report, other) {
  report.shown.push(...other.shown);
  report.waiting.push(...other.waiting.filter((id) => !report.waiting.includes(id)));
  report.code ??= other.code;
  for (const result of /** @type {const} */ (['newData', 'failed'])) {
    if (report.result === result || other.result === result) {
      report.result = result;
      break;
    }
  }
  return report;
}
