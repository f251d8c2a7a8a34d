import { ApiError } from "./api";
import { t } from "./i18n";

/** What a failure means for the user, in one sentence. */
export function explainError(error: unknown): string {
  if (!(error instanceof ApiError)) return error instanceof Error ? error.message : String(error);
  switch (error.status) {
    case 0:
      return t("error.offline");
    case 401:
      return t("error.signedOut");
    case 403:
      return t("error.forbidden");
    case 404:
      return t("error.notFound");
    case 409:
      return error.message || t("error.conflict");
    case 429:
      return t("error.tooMany", { seconds: error.retryAfter ?? 1 });
    case 503:
      return error.message || t("error.unavailable");
    default:
      return error.message || t("error.status", { status: error.status });
  }
}
