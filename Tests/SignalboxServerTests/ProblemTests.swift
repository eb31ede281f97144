import HTTPTypes
import Logging
import SignalboxGateway
import SignalboxStore
import Testing

@testable import SignalboxServer

@Suite struct ProblemTests {
    /// A sender may repeat an event after "nothing was accepted", but not after an unknown outcome.
    @Test func reportsAnUnknownOutcomeAsATimeout() {
        let unknown = StoreError.undecided(after: .seconds(15))
        for problem in [Problem(Intake.Failure.store(unknown)), Problem.store(unknown)] {
            #expect(problem.status == .serviceUnavailable)
            #expect(problem.code == "queue-timeout")
            #expect(problem.headers[.retryAfter] == "5")
            #expect(problem.detail.contains("within 15 s: its outcome is not known"))
        }
        #expect(Problem(Intake.Failure.store(unknown)).detail.contains("idempotency-key"))
        let stalled = Problem(Intake.Failure.store(.stalled(for: .seconds(20))))
        #expect(stalled.code == "queue-unavailable" && stalled.title == "No event was accepted")
        #expect(stalled.detail.contains("has not completed a commit for 20 s"))
    }

    /// The failed operation may be a read.
    @Test func aFailureOfTheQueueDoesNotClaimAWrite() {
        let problem = Problem.store(.unavailable(reason: "disk I/O error (266)"))
        #expect(problem.detail == "The queue cannot be used: disk I/O error (266).")
    }

    /// A list of messages accepts nothing, and an operator needs the address of the database.
    @Test func describesAnOutageToOperatorsOfInAppMessages() {
        let alarm = QueueAlarm(logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let error = StoreError.unreachable(reason: "the database db:5432/sb refused the connection")
        for isWrite in [false, true] {
            let problem = alarm.operatorProblem(of: .store(error), isWrite: isWrite)
            #expect(problem.code == "queue-unavailable" && problem.title == "The queue did not answer")
            #expect(problem.detail.contains("db:5432/sb"))
        }
        let unknown = alarm.operatorProblem(of: .unknownMessage("spring"), isWrite: false)
        #expect(unknown.code == "message-not-found")
        #expect(!alarm.inAppProblem(of: .store(error)).detail.contains("db:5432/sb"))
    }

    /// A client that ends its input ends its wait too, while the gateway continues.
    @Test func theEndOfAWaitNamesBothReasons() {
        let problem = Problem(CaptureWait.Failure.cancelled)
        #expect(problem.code == "captures-stopping")
        #expect(problem.detail.contains("gateway is stopping") && problem.detail.contains("client ended"))
    }
}
